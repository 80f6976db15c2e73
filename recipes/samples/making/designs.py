"""Six designs of web page. Each wraps the same article in other furniture: what an extractor has to see through."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape

AUTHORS = ("M. Castellane", "R. Okonjo", "T. Lindqvist", "A. Baranek", "S. Iwamura", "J. Ferreira-Holt")
DATES = ("2024-03-11", "2024-03-29", "2024-04-02", "2024-04-17", "2024-04-25", "2024-05-01")


@dataclass(frozen=True, slots=True)
class Page:
    """One article and the site around it. `meta_charset` is what the page states of itself, None for nothing."""

    url: str
    bcp47: str
    site: str
    menu: tuple[str, ...]
    cookie: str
    footer: str
    title: str
    paragraphs: tuple[str, ...]
    related: tuple[str, ...]
    author: str
    date: str
    meta_charset: str | None = "utf-8"

    def with_text(self, change: Callable[[str], str]) -> "Page":
        """The page with title and paragraphs changed, and everything around them as it was."""
        return replace(self, title=change(self.title), paragraphs=tuple(map(change, self.paragraphs)))


def html(page: Page, design: str) -> str:
    return DESIGNS[design](page)


def direction(bcp47: str) -> str:
    rtl = bcp47.split("-")[0] in {"ar", "fa", "he", "ur", "ckb", "ps", "yi", "sd", "ug"}
    return "rtl" if rtl else "ltr"


def _meta(page: Page, close: str = "") -> str:
    return f'<meta charset="{page.meta_charset}"{close}>\n' if page.meta_charset else ""


def _links(labels: tuple[str, ...], folder: str) -> str:
    return "".join(f'<li><a href="/{folder}/{n}">{escape(label)}</a></li>\n' for n, label in enumerate(labels))


def _paragraphs(page: Page, attributes: str = "") -> str:
    return "\n".join(f"<p{attributes}>{escape(text, quote=False)}</p>" for text in page.paragraphs)


def _json_ld(page: Page) -> str:
    facts = {
        "@context": "https://schema.org",
        "@type": "Article",
        "headline": page.title,
        "inLanguage": page.bcp47,
        "datePublished": page.date,
        "author": {"@type": "Person", "name": page.author},
    }
    return f'<script type="application/ld+json">{json.dumps(facts, ensure_ascii=False)}</script>'


def _description(page: Page) -> str:
    return escape(page.paragraphs[0][:120])


def _blog(page: Page) -> str:
    """HTML5 with article, header and aside elements: what blog engines write."""
    return f"""<!DOCTYPE html>
<html lang="{page.bcp47}" dir="{direction(page.bcp47)}">
<head>
{_meta(page)}<title>{escape(page.title)} | {page.site}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="{_description(page)}">
<meta property="article:published_time" content="{page.date}T08:00:00Z">
<style>body{{font:1.1rem/1.6 serif;max-width:44rem;margin:auto}}.cookie-banner{{position:fixed;bottom:0}}</style>
{_json_ld(page)}
</head>
<body class="single post-template">
<div class="cookie-banner" role="dialog"><p>{escape(page.cookie)}</p><button>OK</button></div>
<header class="site-header"><a class="logo" href="/">{page.site}</a>
<nav class="main-menu"><ul>
{_links(page.menu, "menu")}</ul></nav></header>
<nav class="breadcrumbs"><a href="/">{escape(page.menu[0])}</a> &rsaquo;
<a href="/menu/1">{escape(page.menu[1])}</a></nav>
<article class="post hentry">
<header><h1 class="entry-title">{escape(page.title)}</h1>
<p class="byline"><span class="author">{page.author}</span> <time datetime="{page.date}">{page.date}</time></p></header>
<div class="entry-content">
{_paragraphs(page)}
</div>
</article>
<aside class="related sidebar"><ul>
{_links(page.related, "post")}</ul></aside>
<footer class="site-footer"><p>{escape(page.footer)}</p></footer>
<script>window.dataLayer=window.dataLayer||[];dataLayer.push({{"event":"view"}});</script>
</body>
</html>
"""


def _soup(page: Page) -> str:
    """Nothing but div elements with ids."""
    menu = "".join(f'<div class="menu-item"><a href="/m{n}">{escape(m)}</a></div>' for n, m in enumerate(page.menu))
    return f"""<!DOCTYPE html>
<html lang="{page.bcp47}">
<head>
<title>{escape(page.title)}</title>
{_meta(page)}<meta name="description" content="{_description(page)}">
<link rel="stylesheet" href="/static/main.css">
<script src="/static/jquery.min.js"></script>
</head>
<body dir="{direction(page.bcp47)}">
<div id="wrapper">
<div id="header"><div id="logo"><a href="/">{page.site}</a></div><div id="menu">{menu}</div></div>
<div id="breadcrumb"><a href="/">{escape(page.menu[0])}</a> / <a href="/m2">{escape(page.menu[2])}</a></div>
<div id="content"><div class="article">
<h1>{escape(page.title)}</h1>
<div class="date"><time datetime="{page.date}">{page.date}</time></div>
<div class="article-body">
{_paragraphs(page)}
</div></div></div>
<div id="sidebar"><div class="widget related-posts"><ul>
{_links(page.related, "a")}</ul></div></div>
<div id="footer">{escape(page.footer)}</div>
</div>
<div id="cookie-consent" class="cookie-notice">{escape(page.cookie)} <a href="/privacy">OK</a></div>
<script>(function(){{var s=document.createElement("script");s.async=1;s.src="/static/stats.js";
document.body.appendChild(s)}})();</script>
</body>
</html>
"""


def _tables(page: Page) -> str:
    """HTML 4 as of 1999: layout by tables, capital tags, unclosed cells, old charset declaration."""
    menu = "\n".join(f'<TR><TD class="menu"><A HREF="/m{n}.htm">{escape(m)}</A>' for n, m in enumerate(page.menu))
    related = "<BR>\n".join(f'<A HREF="/r{n}.htm">{escape(label)}</A>' for n, label in enumerate(page.related))
    stated = page.meta_charset
    meta = f'<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset={stated}">\n' if stated else ""
    return f"""<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">
<HTML LANG="{page.bcp47}" DIR="{direction(page.bcp47)}">
<HEAD>
{meta}<TITLE>{escape(page.title)}</TITLE>
<META NAME="description" CONTENT="{_description(page)}">
</HEAD>
<BODY BGCOLOR="#FFFFFF" LINK="#003399">
<TABLE WIDTH="100%" BORDER="0" CELLPADDING="4">
<TR><TD COLSPAN="3" BGCOLOR="#CCDDEE" class="header"><FONT SIZE="5">{page.site}</FONT></TD></TR>
<TR VALIGN="top">
<TD WIDTH="150" class="navigation"><TABLE class="menu">
{menu}
</TABLE></TD>
<TD class="content">
<H1>{escape(page.title)}</H1>
{_paragraphs(page, ' ALIGN="justify"')}
</TD>
<TD WIDTH="150" class="sidebar">{related}</TD>
</TR>
<TR><TD COLSPAN="3" class="footer"><HR><FONT SIZE="1">{escape(page.footer)}</FONT></TD></TR>
</TABLE>
</BODY>
</HTML>
"""


def _main(page: Page) -> str:
    """HTML5 with a main element, end tags left out where the standard allows it."""
    return f"""<!doctype html>
<html lang={page.bcp47} dir={direction(page.bcp47)}>
{_meta(page)}<title>{escape(page.title)}</title>
<meta name=description content="{_description(page)}">
<style>main{{max-width:60ch}}nav ul{{display:flex;gap:1em;list-style:none}}</style>
<body>
<a class=skip-link href=#main>{escape(page.menu[0])}</a>
<header>
<nav aria-label=main><ul>
{_links(page.menu, "go").replace("</li>", "")}</ul></nav>
</header>
<main id=main>
<ol class=breadcrumb>
<li><a href=/>{escape(page.menu[0])}</a>
<li><a href=/go/3>{escape(page.menu[3])}</a>
</ol>
<h1>{escape(page.title)}</h1>
<time datetime={page.date}>{page.date}</time>
{_paragraphs(page).replace("</p>", "")}
</main>
<aside class=related><ul>
{_links(page.related, "p").replace("</li>", "")}</ul></aside>
<footer><small>{escape(page.footer)}</small></footer>
<div id=cookies class="cookie-bar hidden">{escape(page.cookie)}</div>
{_json_ld(page)}
"""


def _xhtml(page: Page) -> str:
    """XHTML 1.0 Strict with an XML declaration, which states the charset, and CDATA sections."""
    stated = f' encoding="{page.meta_charset}"' if page.meta_charset else ""
    return f"""<?xml version="1.0"{stated}?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="{page.bcp47}" lang="{page.bcp47}" dir="{direction(page.bcp47)}">
<head>
<title>{escape(page.title)}</title>
<meta name="description" content="{_description(page)}" />
<style type="text/css">/*<![CDATA[*/ #navigation {{ float: left; }} /*]]>*/</style>
<script type="text/javascript">//<![CDATA[
if (top !== self && window.name < "b") {{ top.location = self.location; }}
//]]></script>
</head>
<body>
<div id="navigation"><ul>
{_links(page.menu, "nav")}</ul></div>
<div id="main-content">
<h1>{escape(page.title)}</h1>
{_paragraphs(page)}
</div>
<div id="related" class="sidebar"><ul>
{_links(page.related, "doc")}</ul></div>
<div id="footer"><p>{escape(page.footer)}</p></div>
</body>
</html>
"""


def _magazine(page: Page) -> str:
    """HTML5 with a figure, a pull quote of nothing new, sharing buttons and a newsletter form."""
    first, *rest = page.paragraphs
    return f"""<!DOCTYPE html>
<html lang="{page.bcp47}" dir="{direction(page.bcp47)}" class="no-js">
<head>
{_meta(page, " /")}<title>{escape(page.title)} – {page.site}</title>
<meta property="og:title" content="{escape(page.title)}" />
<meta property="og:description" content="{_description(page)}" />
<meta property="article:published_time" content="{page.date}" />
<link rel="canonical" href="{page.url}" />
</head>
<body>
<div class="consent-overlay cookie" hidden><p>{escape(page.cookie)}</p></div>
<header role="banner"><nav role="navigation"><ul class="nav">
{_links(page.menu, "section")}</ul></nav></header>
<main role="main"><article itemscope itemtype="https://schema.org/Article">
<h1 itemprop="headline">{escape(page.title)}</h1>
<time itemprop="datePublished" datetime="{page.date}">{page.date}</time>
<div class="share social-buttons"><a href="#s1">f</a> <a href="#s2">t</a> <a href="#s3">@</a></div>
<div itemprop="articleBody">
<p class="lead">{escape(first, quote=False)}</p>
<figure><img src="/img/header.jpg" alt="" width="800" height="450"></figure>
{_paragraphs(replace(page, paragraphs=tuple(rest)))}
</div>
</article></main>
<aside class="sidebar widget-area"><ul class="related-links">
{_links(page.related, "story")}</ul>
<form class="newsletter" action="/subscribe"><input type="email" name="e"><button>OK</button></form></aside>
<footer role="contentinfo"><p>{escape(page.footer)}</p></footer>
{_json_ld(page)}
</body>
</html>
"""


DESIGNS: dict[str, Callable[[Page], str]] = {
    "blog": _blog,
    "soup": _soup,
    "tables": _tables,
    "main": _main,
    "xhtml": _xhtml,
    "magazine": _magazine,
}
