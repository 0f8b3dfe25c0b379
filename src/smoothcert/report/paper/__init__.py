"""What a paper needs of some runs: tables with means over seeds, tables of cost, and figures as files."""
