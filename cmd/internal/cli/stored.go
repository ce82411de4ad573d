package cli

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/cmd/internal/connect"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/selector"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
)

// storedFlags holds the flags that select stored objects and their schemas.
type storedFlags struct {
	input   inputFlags
	live    []string
	cluster clusterFlags
	chosen  selectFlags
	schemas types.Flags
}

const storedObjects = "objects as they are stored, with managedFields"

func (f *storedFlags) registerInput(flags *pflag.FlagSet) {
	f.input.registerFor(flags, storedObjects)
	flags.Var(list{&f.live}, "live", "as --filename, or cluster for the cluster of the kubeconfig, which is also read when there is no input; repeatable")
	f.cluster.register(flags)
	f.chosen.register(flags)
}

// survey describes the objects of the input. The objects themselves are read as the loop over them proceeds.
type survey struct {
	objects     iter.Seq[*manifest.Object]
	index       *manifest.Live // where the objects are
	several     bool           // whether there are several
	definitions []*manifest.Object
	cluster     *remote                    // where the objects are from; nil for files
	quiet       iter.Seq[*manifest.Object] // like objects, but problems are not reported
}

// read returns the texts of the named files, which belong to f, and the texts that kustomize builds.
func (c *cli) read(names []string, f inputFlags) []*manifest.Text {
	return append(c.Read(names, f.recursive), c.Kustomized(f.kustomize)...)
}

// survey indexes the objects in texts; the objects are read with r. Problems of objects are reported when they are read.
func (c *cli) survey(texts []*manifest.Text, r manifest.Reader) *survey {
	return c.streams(texts, r, c.With(notice.NewLog(io.Discard, nil)).Index(texts, r))
}

// streams is survey with a given index.
func (c *cli) streams(texts []*manifest.Text, r manifest.Reader, index *manifest.Live) *survey {
	quiet := c.With(notice.NewLog(io.Discard, nil))
	return &survey{c.Stream(texts, r), index, index.Count > 1, index.Definitions, nil, quiet.Stream(texts, r)}
}

// managers returns the managers of all objects, sorted and without duplicates. It reads all objects and reports nothing.
func (s *survey) managers() []merge.Manager {
	var all []merge.Manager
	for o := range s.quiet {
		for _, m := range managersOf(o) {
			if !slices.Contains(all, m) {
				all = append(all, m)
			}
		}
	}
	manifest.SortManagers(all)
	return all
}

// storedOnly returns the objects that f selects. Its error is an error of the command line.
func (c *cli) storedOnly(f storedFlags) (*survey, error) {
	isCluster, err := f.isCluster()
	if err != nil {
		return nil, err
	}
	f.input.files = append(slices.Clone(f.input.files), f.live...)
	names, err := []string(nil), error(nil)
	if !isCluster {
		names, err = c.inputs(f.input)
		isCluster = errors.Is(err, errNoInput) && len(f.chosen.Arguments) > 0 && f.chosen.NoInput(nil) == nil
	}
	if isCluster {
		found, failed := c.storedInCluster(f)
		if !errors.Is(failed, connect.ErrNone) || err == nil {
			return found, failed
		}
		err = fmt.Errorf("%w; and %w", err, failed)
	}
	if err != nil {
		return nil, f.chosen.NoInput(err)
	}
	if err := checkStdin(names); err != nil {
		return nil, err
	}
	return c.choose(c.read(names, f.input), manifest.Everything, f.chosen, f.schemas.Crds)
}

// stored returns the objects that f selects and their schemas. The schemas are nil if they are unusable, which is reported.
func (c *cli) stored(f storedFlags) (*survey, *types.Types, error) {
	if err := f.schemas.Check(); err != nil {
		return nil, nil, err
	}
	found, err := c.storedOnly(f)
	if err != nil {
		return nil, nil, err
	}
	schemas, definitions := f.schemas, found.definitions
	if found.cluster != nil {
		schemas, definitions = found.cluster.schemas(schemas, definitions)
	}
	return found, c.NewTypes(schemas, definitions...), nil
}

// isCluster reports whether f asks for a cluster.
func (f storedFlags) isCluster() (bool, error) { return f.cluster.isCluster(f.live, f.input.any()) }

// storedInCluster is storedOnly for the objects in a cluster.
func (c *cli) storedInCluster(f storedFlags) (*survey, error) {
	k, err := f.cluster.open(c, f.input, f.chosen.Namespace)
	if err != nil {
		return nil, err
	}
	texts, err := k.chosen(f.chosen.Query)
	if err != nil {
		return nil, err
	}
	found := c.survey(texts, manifest.Everything)
	found.cluster = k
	return found, nil
}

// newManager returns the manager that s names, for an object that does not have it yet.
func newManager(s selector.Manager) merge.Manager {
	m := merge.Manager{Name: s.Name, Operation: s.Operation, Subresource: s.Subresource}
	if m.Operation == "" {
		m.Operation = merge.Apply
	}
	return m
}

// named returns the managers of o that s names: one manager, or an updater in each version in which it wrote. The error is
// [ownership.ErrNoManager] if no manager matches.
func named(o *manifest.Object, s selector.Manager) ([]merge.Manager, error) {
	found := slices.DeleteFunc(managersOf(o), func(m merge.Manager) bool { return !s.Matches(m) })
	if len(found) == 0 {
		return nil, ownership.ErrNoManager
	}
	for _, m := range found {
		if m.APIVersion = found[0].APIVersion; m != found[0] {
			return nil, secret.Errorf("%v is several managers: say which of %s", s, selector.Identities(s.Name, found))
		}
	}
	return found, nil
}

// managersOf returns the managers of o, in the order of their entries and without duplicates.
func managersOf(o *manifest.Object) []merge.Manager {
	var out []merge.Manager
	for _, w := range manifest.OwnersOf(o) {
		if !slices.Contains(out, w.Manager) {
			out = append(out, w.Manager)
		}
	}
	return out
}
