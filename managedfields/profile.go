package managedfields

import (
	"fmt"
	"strconv"
	"strings"
)

// Profile selects the behaviour of a release of Kubernetes, where releases differ. The zero Profile
// is that of v1.37, which this module follows in all other respects.
//
// Two sources show the differences: replays of the same random histories on the
// k8s.io/apimachinery of all releases since v1.31, and changes in its code. docs/releases.md has
// an example of each.
type Profile struct {
	// AllKeys requires an item of a keyed list to have every key that has no default. Otherwise one
	// key is enough. Releases up to v1.33 have it.
	AllKeys bool
	// KeepEmptied leaves an object or list empty if an apply removes all its parts. Otherwise it
	// becomes null. Releases v1.36.0 to v1.36.2 have it.
	KeepEmptied bool
	// ForgetOnFailure drops all managed fields if an update cannot bring them up to date. Otherwise
	// those of the live object stay. Releases up to v1.36 have it.
	ForgetOnFailure bool
	// PassOverTrailing ignores text after the JSON of a key or item in fieldsV1, such as the x of
	// v:1x. Otherwise the managed fields are invalid. Releases up to v1.36 have it.
	PassOverTrailing bool
}

// The first and last minor release with a known profile.
const (
	firstMinor = 31
	lastMinor  = 37
)

// ProfileOf returns the profile of a release of Kubernetes. A minor release such as 1.33 stands for
// its last patch release; a patch release is for example v1.36.2. ProfileOf returns an error unless
// the release is one of v1.31 to v1.37.
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

// lastPatch is the patch number of a minor release that is given without a patch.
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
