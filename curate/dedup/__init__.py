"""Which documents repeat another one."""
