"""What is published and who subscribes."""
