"""What many owners together tell: figures that can be added up in any order. Pure."""
