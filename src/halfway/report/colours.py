"""The colours of pictures and plots: ink, paper, and the palette of Okabe and Ito.

The palette is distinguishable with any colour vision, on white and on black.
"""

INK, PAPER = "#1c2733", "#ffffff"
NODE = "#9aa5b0"  # a node without a role
BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"
PURPLE, SKY_BLUE, VERMILION = "#CC79A7", "#56B4E9", "#D55E00"
GOLD = "#F0C419"  # of marks with an outline; darker than the yellow of Okabe and Ito
