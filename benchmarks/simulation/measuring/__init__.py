"""What simulation has to know, measured; and real runs to hold it against."""
