"""Tables, plots and the page of reproduced figures."""
