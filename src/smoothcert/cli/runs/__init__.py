"""Commands about run folders as such: how one is getting on, and several made into one."""
