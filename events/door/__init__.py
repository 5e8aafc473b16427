"""What is read at the door before anything is explained."""
