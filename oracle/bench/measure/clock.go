package measure

import "time"

// Clock returns how much time has passed since some moment.
type Clock func() time.Duration

var start = time.Now()

// Wall is the clock on the wall.
func Wall() time.Duration { return time.Since(start) }
