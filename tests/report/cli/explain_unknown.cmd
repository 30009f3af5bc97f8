for code in slow inputbound sp101 sync bound; do $REPORT explain $code; done
