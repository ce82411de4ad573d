package report

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/manifest"
	"github.com/deed-project/deed/internal/notice"
	"github.com/deed-project/deed/internal/types"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
)

// OwnerChange is what becomes of what a manager owns.
type OwnerChange struct {
	manifest.Ref
	Manager *ownerJSON `json:"manager,omitempty"` // none where it is about the object
	Lost    []string   `json:"lost,omitempty"`
	Gained  []string   `json:"gained,omitempty"`
	Hollow  []string   `json:"itselfOnly,omitempty"` // lists and objects whose parts are owned one by one from then on
	Unknown []string   `json:"undeclared,omitempty"` // paths that the new schema does not have
	Detail  string     `json:"detail,omitempty"`

	subject *manifest.Object
	where   notice.Position
}

// OwnersUnder returns what becomes of who owns what in o when the schema of its kind changes.
func OwnersUnder(c *types.Library, o *manifest.Object, old, new *schema.Catalog) []OwnerChange {
	var out []OwnerChange
	add := func(x OwnerChange, where notice.Position) {
		x.Ref, x.subject, x.where = o.Ref(), o, where
		out = append(out, x)
	}
	t, ok := new.Lookup(o.GVK())
	if !ok {
		add(OwnerChange{Detail: "the new schema does not have the kind in this version"}, o.At("apiVersion"))
		return out
	}
	var defects typed.Errors
	if _, err := typed.New(o.Content, t, typed.AllowDuplicates); errors.As(err, &defects) {
		for _, d := range defects {
			add(OwnerChange{Detail: "the new schema does not admit it: " + types.Explain(o, d, t)}, o.DefectAt(d))
		}
	}
	f := ReadFields(c, o)
	for i, w := range f.owners {
		if x := changeOf(w, f.sets[i], schema.ParseGVK(w.APIVersion, o.Id.Kind), old, new); x != nil {
			add(*x, o.At("metadata", "managedFields", i))
		}
	}
	return out
}

// changeOf returns what becomes of set, which w owns in an object of kind gvk, and nil if nothing does.
func changeOf(w manifest.Holder, set fieldpath.Set, gvk schema.GVK, old, new *schema.Catalog) *OwnerChange {
	x := &OwnerChange{Manager: &ownersJSON([]manifest.Holder{w})[0]}
	t, ok := new.Lookup(gvk)
	if !ok {
		x.Detail = "the new schema does not have the kind in " + w.APIVersion + ": the next write forgets what it owns"
		return x
	}
	after, changed, err := typing.Reconcile(set, t)
	switch {
	case err != nil:
		x.Detail = err.Error()
	case changed:
		x.Lost, x.Gained = texts(set.Minus(after)), texts(after.Minus(set))
	}
	if before, ok := old.Lookup(gvk); ok {
		for path := range after.All() {
			switch a, b := types.TypeAt(before, path), types.TypeAt(t, path); {
			case a != nil && b == nil:
				x.Unknown = append(x.Unknown, path.Text())
			case a != nil && types.IsAtomic(a) && !types.IsAtomic(b):
				x.Hollow = append(x.Hollow, path.Text())
			}
		}
	}
	if x.Detail == "" && len(x.Lost)+len(x.Gained)+len(x.Hollow)+len(x.Unknown) == 0 {
		return nil
	}
	return x
}

func texts(s fieldpath.Set) []string {
	var out []string
	for path := range s.All() {
		out = append(out, path.Text())
	}
	return out
}

// Print writes the change in words.
func (x OwnerChange) Print(out io.Writer) {
	who := ""
	if x.Manager != nil {
		who = fmt.Sprintf(": %q (%s)", x.Manager.Manager, strings.Join([]string{x.Manager.Operation, x.Manager.APIVersion}, ", "))
	}
	fmt.Fprintf(out, "%v: %v%s", x.where, x.subject, who)
	if x.Detail != "" {
		fmt.Fprintf(out, ": %s", x.Detail)
	}
	fmt.Fprintln(out)
	for _, list := range []struct {
		text  string
		paths []string
	}{{"owns no more", x.Lost}, {"owns instead", x.Gained}, {"owns nothing in", x.Hollow}, {"owns what is not declared", x.Unknown}} {
		for _, path := range list.paths {
			fmt.Fprintf(out, "    %s %s\n", list.text, path)
		}
	}
}
