#!/usr/bin/env perl
# Writes unicode.tsv, casefold.tsv and compose.tsv beside itself, from the Unicode database that comes with perl.
# Every table starts with a line that names the Unicode version. Run it with a newer perl to move to a newer Unicode.
use v5.30;
use Unicode::UCD qw(prop_invmap prop_value_aliases);
use Unicode::Normalize qw(NFD NFC getCombinClass);
use File::Basename qw(dirname);

my $folder = dirname(__FILE__);
my %map = map { $_ => [prop_invmap($_)] } qw(gc sc STerm WSpace NFC_QC NFD_QC ccc);
my $version = Unicode::UCD::UnicodeVersion();

sub value {
    my ($property, $code) = @_;
    my ($starts, $values) = @{$map{$property}};
    my ($low, $high) = (0, scalar(@$starts));
    while ($high - $low > 1) { my $middle = int(($low + $high) / 2); $starts->[$middle] <= $code ? ($low = $middle) : ($high = $middle) }
    return $values->[$low];
}

# Code points that decompose: the class of the last mark.
sub last_class {
    my ($code) = @_;
    return '' if value('NFD_QC', $code) !~ /^N/;
    my $class = getCombinClass(ord(substr(NFD(chr($code)), -1)));
    return $class == 0 ? '' : $class <= 230 ? 'D' : 'E';
}

my %cut = map { $_ => 1 } grep { $_ < 0x110000 } map { @{$_->[0]} } values %map;
$cut{$_} = 1 for grep { value('NFD_QC', $_) =~ /^N/ } 0xC0 .. 0x2FFF, 0x10000 .. 0x1FFFF;
my %short;
open(my $table, '>', "$folder/unicode.tsv");
say $table "# Unicode $version: first code point, general category, script, combining class, flags (T ends a sentence, W white space, N not in NFC, M maybe not in NFC, D decomposes into marks of class 1 to 230 at the end, E of a higher one)";
my $last = '';
for my $code (sort { $a <=> $b } keys %cut) {
    my $script = value('sc', $code);
    $short{$script} //= (prop_value_aliases('sc', $script))[0];
    my $flags = (value('STerm', $code) eq 'Y' ? 'T' : '') . (value('WSpace', $code) eq 'Y' ? 'W' : '');
    my $nfc = value('NFC_QC', $code);
    $flags .= $nfc =~ /^N/ ? 'N' : $nfc =~ /^M/ ? 'M' : '';
    $flags .= last_class($code);
    my $gc = (prop_value_aliases('gc', value('gc', $code)))[0];
    my $class = value('ccc', $code);
    $class = (prop_value_aliases('ccc', $class))[2] // $class if $class !~ /^\d+$/;
    my $line = join("\t", $gc, $short{$script}, $class, $flags);
    next if $line eq $last;
    $last = $line;
    say $table sprintf("%X\t%s", $code, $line);
}

open(my $folding, '>', "$folder/casefold.tsv");
say $folding "# Unicode $version: code point, full case folding";
my ($starts, $values) = prop_invmap('Case_Folding');
for my $i (0 .. $#$starts) {
    my $end = $i < $#$starts ? $starts->[$i + 1] : 0x110000;
    my $to = $values->[$i];
    next if !ref($to) && $to eq '0';
    for my $code ($starts->[$i] .. $end - 1) {
        my @to = ref($to) ? @$to : ($to + $code - $starts->[$i]);
        say $folding join("\t", sprintf('%X', $code), join(' ', map { sprintf '%X', $_ } @to));
    }
}

open(my $composing, '>', "$folder/compose.tsv");
say $composing "# Unicode $version: first and second code point of every pair that NFC composes, Hangul syllables excepted";
for my $code (0xA0 .. 0x2FA1D) {
    next if $code >= 0xAC00 && $code <= 0xD7A3;
    my $char = chr($code);
    my $parts = NFD($char);
    next if $parts eq $char || NFC($parts) ne $char || length($parts) < 2;
    my $second = substr($parts, -1);
    my $first = NFC(substr($parts, 0, -1));
    next if length($first) != 1;
    say $composing sprintf("%X\t%X", ord($first), ord($second));
}
