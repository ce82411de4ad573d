package report

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
)

// PatchPrinter prints patches one by one, as JSON or as kubectl commands for a shell.
type PatchPrinter struct {
	Log      *notice.Log
	Out      *bufio.Writer
	Commands bool
}

// Print prints the patch of h. Flushing Out returns errors of writing.
func (p *PatchPrinter) Print(h *dryrun.Handover) error {
	patch, guarded, err := h.Patch()
	if err != nil {
		return err
	}
	if patch != nil && !guarded {
		p.Log.Warn(h.Live.At(), "%v: the patch is unguarded: the object has no metadata.resourceVersion, so the server takes it "+
			"whatever has changed since", h.Live)
	}
	switch {
	case p.Commands && patch == nil:
		p.comment(h)
	case p.Commands:
		p.command(h.Live, patch)
	case patch == nil:
		p.Out.WriteString("[]\n")
	default:
		var b bytes.Buffer
		if err := json.Indent(&b, patch, "", "    "); err != nil {
			return err
		}
		p.Out.WriteString(b.String() + "\n")
	}
	return nil
}

// comment writes a comment into a script that says why there is no command for h.
func (p *PatchPrinter) comment(h *dryrun.Handover) {
	text := fmt.Sprintf("%v: %v: %s", h.Live.At(), h.Live, cmp.Or(h.Note, "nothing changes hands"))
	p.Out.WriteString("# " + strings.Join(strings.Fields(text), " ") + "\n")
}

// maxArgument is the maximum length of a patch as a command argument. Linux allows 128 KiB.
const maxArgument = 64 << 10

// command prints the kubectl command that patches o.
func (p *PatchPrinter) command(o *manifest.Object, patch []byte) {
	words := []string{"kubectl", "patch", wording.KubectlType(o.GVK().Group, o.GVK().Version, o.Id.Kind), o.Id.Name}
	if o.Id.Namespace != "" {
		words = append(words, "-n", o.Id.Namespace)
	}
	for _, word := range append(words, "--type=json") {
		p.Out.WriteString(wording.ShellWord(word) + " ")
	}
	if len(patch) <= maxArgument {
		p.Out.WriteString("-p " + wording.ShellWord(string(patch)) + "\n")
		return
	}
	p.Out.WriteString("--patch-file=/dev/stdin <<'PATCH'\n" + string(patch) + "\nPATCH\n") // no line of JSON equals the end mark
}

// PrintHandover prints the owners before and after, and the effect of the next apply.
func PrintHandover(out *bufio.Writer, h *dryrun.Handover) {
	if h.Note != "" {
		fmt.Fprintf(out, "%v: %v: %s\n", h.Live.At(), h.Live, h.Note)
		return
	}
	fmt.Fprintf(out, "%v: %v\n", h.Live.At(), h.Live)
	changes := h.Changes()
	keys := h.Live.Keys(h.Paths(changes))
	for _, g := range changes {
		fmt.Fprintf(out, "  %s: %s -> %s\n", wording.Plural(g.Paths.Len(), "path"), ManagersText(g.Before), ManagersText(g.After))
		for path := range g.Paths.All() {
			fmt.Fprintf(out, "    %s\n", describe(h.Live.View(), keys, path))
		}
	}
	if h.Config != nil {
		printNext(out, h, keys, fmt.Sprintf("the next apply of %v", h.Config.At()))
	}
}

// printNext prints the effect of next, the next apply by the receiver.
func printNext(out *bufio.Writer, h *dryrun.Handover, keys map[secret.Key]notice.Position, next string) {
	view := h.Live.View()
	list := func(text string, all []dryrun.Leftover) {
		if len(all) > 0 {
			fmt.Fprintf(out, "  %s %s:\n", next, text)
		}
		for _, l := range all {
			owners := ""
			if len(l.Owners) > 0 {
				owners = ", owned by " + ManagersText(l.Owners)
			}
			switch {
			case l.Default.IsAbsent():
			case l.Default.Equal(l.Value):
				owners += ", which is the default"
			default:
				owners += ", by default " + view.Value(l.Path, l.Default).String()
			}
			fmt.Fprintf(out, "    %s: %v%s\n", describe(view, keys, l.Path), view.Value(l.Path, l.Value), owners)
		}
	}
	var gone, refilled []dryrun.Leftover
	for _, l := range h.Removed {
		if l.Default.IsAbsent() {
			gone = append(gone, l)
		} else {
			refilled = append(refilled, l)
		}
	}
	list("removes, because no other manager owns it", gone)
	list("resets to its default, because no other manager owns it", refilled)
	list("keeps, although the configuration omits it", h.Kept)
	for _, x := range dryrun.Contests(h.Conflicts) {
		live, wanted := secret.Texts(view.Pair(x.Path, x.Live, x.Wanted))
		owners := make([]string, len(x.Owners))
		for i, w := range x.Owners {
			owners[i] = showOwner(w)
		}
		fmt.Fprintf(out, "  %s conflicts: %s: %s would become %s, owned by %s\n", next, describe(view, keys, x.Path), live, wanted,
			strings.Join(owners, " and "))
	}
	if len(h.Removed)+len(h.Kept)+len(h.Conflicts) == 0 {
		fmt.Fprintf(out, "  %s removes nothing and has no conflict\n", next)
	}
}

// describe returns path, as view shows it, with its position in the input, if it has one.
func describe(view secret.View, keys map[secret.Key]notice.Position, path fieldpath.Path) string {
	if at, ok := keys[secret.KeyOf(path)]; ok {
		return fmt.Sprintf("%v: %s", at, view.Path(path))
	}
	return view.Path(path)
}

// ManagersText lists managers with their operations.
func ManagersText(owners []merge.Manager) string {
	if len(owners) == 0 {
		return nobody
	}
	names := make([]string, len(owners))
	for i, m := range owners {
		names[i] = wording.Manager(m.Name) + " " + operation(m)
	}
	slices.Sort(names)
	return strings.Join(names, between)
}
