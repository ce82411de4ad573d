package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/value"
)

// identity returns whose entry e is.
func identity(e managedfields.Entry) merge.Manager {
	m := merge.Manager{Name: e.Manager, Operation: e.Operation, Subresource: e.Subresource}
	if e.Operation == merge.Update {
		m.APIVersion = e.APIVersion
	}
	return m
}

// ownerJSON is a manager in JSON.
type ownerJSON struct {
	Manager     string `json:"manager"`
	Operation   string `json:"operation"`
	APIVersion  string `json:"apiVersion"`
	Subresource string `json:"subresource,omitempty"`
	Time        string `json:"time,omitempty"`
}

func ownersJSON(owners []holder) []ownerJSON {
	out := make([]ownerJSON, len(owners))
	for i, o := range owners {
		out[i] = ownerJSON{o.Manager.Name, string(o.Manager.Operation), o.APIVersion, o.Manager.Subresource, fullTime(o.Time)}
	}
	return out
}

// holder is who an entry of managedFields belongs to.
type holder = ownership.Owner

// ownersOf returns who the entries of o belong to.
func ownersOf(o *object) []holder {
	out := make([]holder, len(o.Entries))
	for i, e := range o.Entries {
		out[i] = holder{Index: i, Manager: identity(e), APIVersion: e.APIVersion, Time: e.Time}
	}
	return out
}

// showHolder returns who o is, as showOwner does.
func showHolder(o holder) string {
	return showOwner(merge.Entry{Manager: o.Manager, APIVersion: o.APIVersion, Time: o.Time})
}

// The ways to show times.
const (
	timeRelative = "relative"
	timeFull     = "full"
	timeNone     = "none"
)

// ownerNames shows who owns something in few words.
type ownerNames struct {
	times   string    // one of the ways to show times
	now     time.Time // that relative times are relative to
	version string    // that goes without saying
}

// name returns the name, the operation with the subresource, the version if it is not the usual one, and the time.
func (n ownerNames) name(o holder) string {
	words := []string{manager(o.Manager.Name), operation(o.Manager)}
	if o.APIVersion != n.version {
		words = append(words, o.APIVersion)
	}
	switch {
	case o.Time.IsZero() || n.times == timeNone:
	case n.times == timeFull:
		words = append(words, fullTime(o.Time))
	default:
		words = append(words, age(n.now.Sub(o.Time)))
	}
	return strings.Join(words, " ")
}

// manager returns the name of a manager as it is, or quoted if it has characters that would be mistaken for something else.
func manager(name string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == '"' }) {
		return strconv.Quote(name)
	}
	return name
}

// operation returns how m writes, and through which subresource.
func operation(m merge.Manager) string {
	if m.Subresource != "" {
		return string(m.Operation) + "/" + m.Subresource
	}
	return string(m.Operation)
}

func fullTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// age returns how long d is, in the largest unit that has at least two of it.
func age(d time.Duration) string {
	if d < 0 {
		return "in " + age(-max(d, -math.MaxInt64)) // the smallest duration has no opposite
	}
	const day = 24 * time.Hour
	for _, unit := range []struct {
		letter string
		length time.Duration
	}{{"y", 365 * day}, {"d", day}, {"h", time.Hour}, {"m", time.Minute}} {
		if d >= 2*unit.length {
			return fmt.Sprintf("%d%s", d/unit.length, unit.letter)
		}
	}
	return fmt.Sprintf("%ds", d/time.Second)
}

// emptyMetadata is an object with nothing but empty metadata.
var emptyMetadata = value.Object(value.Member{Name: "metadata", Value: value.Object()})
