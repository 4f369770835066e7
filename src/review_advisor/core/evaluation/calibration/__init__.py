"""Whether stated confidence comes true: pairs, cells, bins, and maps that have to earn their place."""
