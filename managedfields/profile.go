package managedfields

import (
	"fmt"
	"strconv"
	"strings"
)

// Profile is how a release of Kubernetes behaves, where releases differ. The zero Profile is that of
// v1.37, which this module follows in all else.
//
// The differences were found by playing the same random histories on the k8s.io/apimachinery of all
// releases from v1.31 on, and by reading what changed in its code; docs/releases.md shows an example
// of each.
type Profile struct {
	// AllKeys: an item of a keyed list must have every key that has no default. Otherwise one key is
	// enough. So it is up to v1.33.
	AllKeys bool
	// KeepEmptied: an object or list that loses all its parts to an apply stays empty. Otherwise it
	// becomes null. So it is in v1.36.0 to v1.36.2.
	KeepEmptied bool
	// ForgetOnFailure: an update whose managed fields cannot be brought up to date leaves none.
	// Otherwise those of the live object stay. So it is up to v1.36.
	ForgetOnFailure bool
	// PassOverTrailing: text behind the JSON of a key or of an item in fieldsV1, such as the x of v:1x,
	// is passed over. Otherwise the managed fields cannot be decoded. So it is up to v1.36.
	PassOverTrailing bool
}

// First and last minor release whose profile is known.
const (
	firstMinor = 31
	lastMinor  = 37
)

// ProfileOf returns the profile of a release of Kubernetes: a minor release such as 1.33, which stands
// for its last patch release, or a patch release such as v1.36.2. The error says that the release is
// none of v1.31 to v1.37.
func ProfileOf(release string) (Profile, error) {
	minor, patch, err := parseRelease(release)
	if err != nil {
		return Profile{}, err
	}
	return Profile{
		AllKeys:          minor <= 33,
		KeepEmptied:      minor == 36 && patch <= 2,
		ForgetOnFailure:  minor <= 36,
		PassOverTrailing: minor <= 36,
	}, nil
}

// lastPatch is the patch of a minor release without one.
const lastPatch = 1 << 30

// parseRelease returns the minor release and the patch of a release.
func parseRelease(release string) (minor, patch int, err error) {
	parts := strings.Split(strings.TrimPrefix(release, "v"), ".")
	numbers := [3]uint64{2: lastPatch}
	known := len(parts) == 2 || len(parts) == 3
	for i := 0; known && i < len(parts); i++ {
		numbers[i], err = strconv.ParseUint(parts[i], 10, 16)
		known = err == nil
	}
	if !known {
		return 0, 0, fmt.Errorf("%q is not a release of Kubernetes, such as 1.%d", release, lastMinor)
	}
	if numbers[0] != 1 || numbers[1] < firstMinor || numbers[1] > lastMinor {
		return 0, 0, fmt.Errorf("release %s is not known: those from 1.%d to 1.%d are", release, firstMinor, lastMinor)
	}
	return int(numbers[1]), int(numbers[2]), nil
}
