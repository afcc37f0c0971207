"""What the daemon tells about itself: metrics, logs and the endpoints they are read from."""
