package etcd

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// What etcd says of how far a watch is may overtake events of the watch before 3.4.25 and 3.5.8. Such an etcd is not asked: then
// watches know how far they are by their events only, and a bookmark may be older than it need be.

// statusPatience is how long a member of the cluster may take to say which version it is.
const statusPatience = 2 * time.Second

// inOrder reports whether no member of the cluster that answers is too old to be asked how far a watch is, and some member does. A
// client without endpoints is of an etcd in the same process, which is new.
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

// tells reports whether a version of etcd says how far a watch is in order with its events.
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
