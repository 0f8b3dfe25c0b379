"""The noise laws, a file each; its name is the law's name."""
