package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/merge"
)

// ownerJSON is a manager in JSON.
type ownerJSON struct {
	Manager     string `json:"manager"`
	Operation   string `json:"operation"`
	APIVersion  string `json:"apiVersion"`
	Subresource string `json:"subresource,omitempty"`
	Time        string `json:"time,omitempty"`
}

func ownersJSON(owners []manifest.Holder) []ownerJSON {
	out := make([]ownerJSON, len(owners))
	for i, o := range owners {
		out[i] = ownerJSON{o.Manager.Name, string(o.Manager.Operation), o.APIVersion, o.Manager.Subresource, fullTime(o.Time)}
	}
	return out
}

// showHolder is [showOwner] for a holder.
func showHolder(o manifest.Holder) string {
	return showOwner(merge.Entry{Manager: o.Manager, APIVersion: o.APIVersion, Time: o.Time})
}

// The notations of times.
const (
	TimeRelative = "relative"
	TimeFull     = "full"
	TimeNone     = "none"
)

// OwnerNames returns short texts for owners.
type OwnerNames struct {
	Times   string    // one of the notations of times
	Now     time.Time // the origin of relative times
	version string    // the version that is not shown
}

// name returns the name, the operation with the subresource, the version if it differs from n.version, and the time.
func (n OwnerNames) name(o manifest.Holder) string {
	words := []string{wording.Manager(o.Manager.Name), operation(o.Manager)}
	if o.APIVersion != n.version {
		words = append(words, o.APIVersion)
	}
	switch {
	case o.Time.IsZero() || n.Times == TimeNone:
	case n.Times == TimeFull:
		words = append(words, fullTime(o.Time))
	default:
		words = append(words, age(n.Now.Sub(o.Time)))
	}
	return strings.Join(words, " ")
}

// operation returns the operation of m, and its subresource.
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

// age returns d in the largest unit that fits into it at least twice.
func age(d time.Duration) string {
	if d < 0 {
		return "in " + age(-max(d, -math.MaxInt64)) // the smallest duration has no negation
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

// Owner is a manager in JSON.
type Owner struct {
	Manager     string          `json:"manager"`
	Operation   merge.Operation `json:"operation"`
	APIVersion  string          `json:"apiVersion,omitempty"`
	Subresource string          `json:"subresource,omitempty"`
}

func owners(managers []merge.Manager) []Owner {
	out := make([]Owner, len(managers))
	for i, m := range managers {
		out[i] = Owner{m.Name, m.Operation, m.APIVersion, m.Subresource}
	}
	return out
}

// String returns the owner in the form of messages.
func (o Owner) String() string {
	return showOwner(merge.Entry{
		Manager:    merge.Manager{Name: o.Manager, Operation: o.Operation, Subresource: o.Subresource},
		APIVersion: o.APIVersion,
	})
}

// ShowOwners returns the owners in one line.
func ShowOwners(owners []Owner) string {
	if len(owners) == 0 {
		return "nobody"
	}
	words := make([]string, len(owners))
	for i, o := range owners {
		words[i] = o.String()
	}
	return strings.Join(words, " and ")
}

// OwnerOf returns the owner of e.
func OwnerOf(e merge.Entry) Owner {
	return Owner{e.Manager.Name, e.Manager.Operation, e.APIVersion, e.Manager.Subresource}
}

// showOwner returns the manager of an entry of managedFields, with all parts of its identity.
func showOwner(e merge.Entry) string {
	parts := []string{string(e.Manager.Operation)}
	if e.APIVersion != "" {
		parts = append(parts, e.APIVersion)
	}
	if e.Manager.Subresource != "" {
		parts = append(parts, "subresource "+e.Manager.Subresource)
	}
	if !e.Time.IsZero() {
		parts = append(parts, e.Time.UTC().Format("2006-01-02T15:04:05Z"))
	}
	return fmt.Sprintf("%q (%s)", e.Manager.Name, strings.Join(parts, ", "))
}
