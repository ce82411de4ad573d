package etcd

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// Before 3.4.25 and 3.5.8, a progress notification of etcd may overtake events of the watch. The store requests none from such an etcd.
// Watches then know their progress only from events, and bookmarks may be older than necessary.

// statusPatience is how long a member of the cluster may take to report its version.
const statusPatience = 2 * time.Second

// inOrder reports whether some member answers, and every member that answers is new enough for progress requests. A client without
// endpoints belongs to an embedded etcd, which is new enough.
//
// Members are asked one after the other, and each that does not answer takes statusPatience. One old member is enough for a no, since the
// client may talk to any of them.
func (s *Store) inOrder(ctx context.Context) bool {
	endpoints := s.client.Endpoints()
	some := len(endpoints) == 0
	for _, endpoint := range endpoints {
		ctx, cancel := context.WithTimeout(ctx, statusPatience)
		status, err := s.client.Status(ctx, endpoint)
		cancel()
		if err != nil {
			continue
		}
		if !tells(status.Version) {
			return false
		}
		some = true
	}
	return some
}

// tells reports whether a version of etcd orders progress notifications with events.
//
// Versions are compared by number. Suffixes such as "-rc.0" are ignored, and text that is no version is too old.
func tells(version string) bool {
	var numbers [3]int
	for i, part := range strings.SplitN(version, ".", len(numbers)) {
		number, _, _ := strings.Cut(part, "-")
		var err error
		if numbers[i], err = strconv.Atoi(number); err != nil {
			return false
		}
	}
	major, minor, patch := numbers[0], numbers[1], numbers[2]
	switch {
	case major != 3 || minor > 5:
		return major >= 3
	case minor == 5:
		return patch >= 8
	}
	return minor == 4 && patch >= 25
}
