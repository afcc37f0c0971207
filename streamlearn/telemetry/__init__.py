"""What the daemon reports about itself: metrics, logs, status and the HTTP endpoints that serve them."""
