package report

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/deed-project/deed/cmd/internal/entries"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/schemafile"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/fieldpath"
)

// schemaDiffJSON is the output of deed schema diff in JSON.
type schemaDiffJSON struct {
	Changes []schemafile.Change `json:"changes"`
	Owners  []ownerChangeJSON   `json:"owners"`
}

// ownerChangeJSON is the effect of a schema change on the fields of a manager.
type ownerChangeJSON struct {
	manifest.Ref
	Manager *ownerJSON `json:"manager,omitempty"` // absent if the change is about the object
	Lost    []string   `json:"lost,omitempty"`
	Gained  []string   `json:"gained,omitempty"`
	Hollow  []string   `json:"itselfOnly,omitempty"`
	Unknown []string   `json:"undeclared,omitempty"`
	Detail  string     `json:"detail,omitempty"`
}

// WriteSchemaDiff writes the changes between two schemas and their effect on owners, as text or JSON. It flushes out, and returns the first
// error of writing.
func WriteSchemaDiff(out *bufio.Writer, format string, changes []schemafile.Change, owners []entries.Change) error {
	if format == FormatJSON {
		all := schemaDiffJSON{append([]schemafile.Change{}, changes...), []ownerChangeJSON{}}
		for _, x := range owners {
			all.Owners = append(all.Owners, ownerChangeOf(x))
		}
		return errors.Join(WriteJSON(out, all), out.Flush())
	}
	for _, x := range changes {
		writeSchemaChange(out, x)
	}
	for _, x := range owners {
		writeOwnerChange(out, x)
	}
	return out.Flush()
}

// writeSchemaChange writes x as text.
func writeSchemaChange(out *bufio.Writer, x schemafile.Change) {
	subject := x.Kind
	if x.Path != "" {
		subject += ": " + x.Path
	}
	fmt.Fprintf(out, "%s: %s\n", subject, x.Detail)
	if x.Effect != "" {
		fmt.Fprintf(out, "    %s\n", x.Effect)
	}
}

func ownerChangeOf(x entries.Change) ownerChangeJSON {
	view := x.Object.View()
	out := ownerChangeJSON{
		Ref: x.Object.Ref(), Detail: x.Detail,
		Lost: texts(view, x.Lost), Gained: texts(view, x.Gained), Hollow: texts(view, x.Hollow), Unknown: texts(view, x.Unknown),
	}
	if x.Owner != nil {
		out.Manager = &ownersJSON([]manifest.Holder{*x.Owner})[0]
	}
	return out
}

// writeOwnerChange writes x as text.
func writeOwnerChange(out *bufio.Writer, x entries.Change) {
	who := ""
	if x.Owner != nil {
		who = fmt.Sprintf(": %q (%s)", x.Owner.Manager.Name, strings.Join([]string{string(x.Owner.Manager.Operation), x.Owner.APIVersion}, ", "))
	}
	fmt.Fprintf(out, "%v: %v%s", x.Where, x.Object, who)
	if x.Detail != "" {
		fmt.Fprintf(out, ": %s", x.Detail)
	}
	fmt.Fprintln(out)
	view := x.Object.View()
	for _, list := range []struct {
		text  string
		paths []fieldpath.Path
	}{{"owns no more", x.Lost}, {"owns instead", x.Gained}, {"owns nothing in", x.Hollow}, {"owns what is not declared", x.Unknown}} {
		for _, path := range list.paths {
			fmt.Fprintf(out, "    %s %s\n", list.text, view.Path(path))
		}
	}
}

// texts returns paths as view shows them.
func texts(view secret.View, paths []fieldpath.Path) []string {
	var out []string
	for _, path := range paths {
		out = append(out, view.Path(path))
	}
	return out
}
