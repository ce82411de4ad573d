package dryrun

import (
	"errors"
	"fmt"
	"slices"
	"unicode"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/selector"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/typed"
)

// The roles of the given object in the errors of the field manager.
const (
	ApplyRole  = "patch"
	UpdateRole = "new"
)

// Refused reports the reasons in err why t failed, each at its place in the input. role is the role of the given object. Defects of the
// given object are refusals. A live object with the wrong type and an ambiguous selector are problems, because the answer of the server
// stays unknown.
func Refused(c *types.Library, t *Task, role string, err error) {
	var wrongType *managedfields.TypeError
	var defects typed.Errors
	var entry *managedfields.EntryError
	var identity *IdentityError
	var unfit *form.Error
	var ambiguous *selector.AmbiguousError
	switch {
	case errors.As(err, &identity):
		c.Refuse(t.Given.Key("metadata", identity.Field), "%v: %s", t.Given, t.Given.View().Error(err))
	case errors.As(err, &unfit):
		where := t.Given.At()
		if steps := manifest.Steps(t.Given.Content, unfit.Path); len(steps) == len(unfit.Path) {
			where = t.Given.At(steps...)
		}
		c.Refuse(where, "%v: %s", t.Given, t.Given.View().Error(err))
	case errors.As(err, &wrongType) && errors.As(err, &defects) && (t.Live != nil || wrongType.Role == role):
		subject, report := t.Given, c.Refuse
		if wrongType.Role != role {
			subject, report = t.Live, c.Problem
		}
		slices.SortStableFunc(defects, func(d, e *typed.Error) int { return subject.DefectAt(d).Compare(subject.DefectAt(e)) })
		for _, defect := range defects {
			report(subject.DefectAt(defect), "%v: %s", subject, types.Explain(subject, defect, t.Endpoint.Typ))
		}
	case errors.As(err, &entry) && t.Live != nil:
		c.Problem(t.Live.Entry(err), "%v: %s", t.Live, t.Live.View().Error(entry))
	case errors.As(err, &ambiguous), t.Given == t.Live:
		c.Problem(t.Given.At(), "%v: %s", t.Given, t.Given.View().Error(err))
	default:
		c.Refuse(t.Given.At(), "%v: %s", t.Given, t.Given.View().Error(err))
	}
}

// CheckManager returns an error if kube-apiserver does not accept name as the name of a field manager.
func CheckManager(name string) error {
	if name == "" {
		return errors.New("--field-manager must not be empty")
	}
	if len(name) > 128 {
		return errors.New("--field-manager may not be more than 128 bytes")
	}
	for i, r := range name {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("--field-manager must be printable, but has %U at byte %d", r, i)
		}
	}
	return nil
}
