"""What models are trained to do, one file per objective."""
