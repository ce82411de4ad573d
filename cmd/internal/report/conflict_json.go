package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
)

// refusalStatus takes the place of a refused object in JSON. It is the answer of kube-apiserver with more data about each conflict.
type refusalStatus struct {
	*secret.Status
	Object    manifest.Ref   `json:"object"`
	Conflicts []conflictJSON `json:"conflicts,omitempty"`
}

// conflictJSON is one field that an apply would change, with one of its owners.
type conflictJSON struct {
	Path   string       `json:"path"`
	Line   int          `json:"line,omitempty"` // in the configuration
	Column int          `json:"column,omitempty"`
	Owner  ownerJSON    `json:"owner"`
	Live   secret.Value `json:"live,omitzero"`
	Wanted secret.Value `json:"wanted,omitzero"`
}

// statusOf returns the document for the reason why config is refused, with secrets masked.
func statusOf(config *manifest.Object, reason error) (secret.Value, error) {
	view := config.View()
	status := refusalStatus{Status: view.Status(reason), Object: config.Ref()}
	var identity *dryrun.IdentityError
	if errors.As(reason, &identity) {
		identify(status.Status, config, identity)
	}
	var conflicts merge.Conflicts
	errors.As(reason, &conflicts)
	find := config.Find()
	for _, c := range conflicts {
		where := config.Key(find.Steps(c.Path)...)
		live, wanted := view.Pair(c.Path, c.Live, c.Wanted)
		status.Conflicts = append(status.Conflicts, conflictJSON{
			Path: view.Path(c.Path), Line: where.Line, Column: where.Column,
			Owner: ownersJSON([]manifest.Holder{{
				Manager: c.Owner.Manager, APIVersion: c.Owner.APIVersion, Time: c.Owner.Time,
			}})[0],
			Live: live, Wanted: wanted,
		})
	}
	text, err := json.Marshal(status)
	if err != nil {
		return secret.Value{}, err
	}
	return secret.FromJSON(text)
}

// identify turns s into the answer of kube-apiserver to a config with another uid or resourceVersion. A server names the resource, which
// deed knows only for built-in kinds.
func identify(s *secret.Status, config *manifest.Object, e *dryrun.IdentityError) {
	name, group := config.Id.Name, config.Id.Group
	of := func(kind string) string { // in the notation of kubectl
		if group == "" {
			return kind
		}
		return kind + "." + group
	}
	if s.Code = e.Code(); s.Code == dryrun.StatusInvalid {
		s.Reason = "Invalid"
		s.Message = fmt.Sprintf("%s %q is invalid: metadata.%s: %s", of(config.Id.Kind), name, e.Field, e.Reason())
		s.Details = &managedfields.StatusDetails{Name: name, Group: group, Kind: config.Id.Kind, Causes: []managedfields.StatusCause{
			{Reason: "FieldValueInvalid", Message: e.Reason(), Field: "metadata." + e.Field},
		}}
		return
	}
	resource := cmp.Or(types.ResourceOf(config.GVK()), config.Id.Kind)
	s.Reason = "Conflict"
	s.Message = fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s", of(resource), name, e.Reason())
	s.Details = &managedfields.StatusDetails{Name: name, Group: group, Kind: resource}
}

// PrintStatus writes the reason why config is refused in place of the object, if p writes JSON. It writes the Status of kube-apiserver, and
// more data about each conflict beside its causes. Close returns errors of writing.
func (p *Printer) PrintStatus(config *manifest.Object, reason error) error {
	if p.format != FormatJSON {
		return nil
	}
	v, err := statusOf(config, reason)
	if err != nil {
		return err
	}
	return p.print(v)
}
