package deed_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/pathtest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// lentPaths has the functions whose paths stay theirs, and hold until the next step. Their documentation says so.
var lentPaths = []string{"typed.Walk"}

// shallowPaths has the sources whose paths are short in any case.
var shallowPaths = []string{"schema/builtin.Kind.Folded", "schema/builtin.Kind.Replicas", "ownership.Check, of lost owners"}

// TestPathsBelongToTheCaller asks each public function that returns or yields paths for them.
func TestPathsBelongToTheCaller(t *testing.T) {
	sources := pathSources(t)
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		t.Run(name, func(t *testing.T) {
			depth := 4
			if slices.Contains(shallowPaths, name) {
				depth = 1
			}
			pathtest.Belong(t, depth, sources[name])
		})
	}
}

// TestPathSources demands that every exported function or method whose results have paths is tested.
func TestPathSources(t *testing.T) {
	tested := map[string]bool{}
	for name := range pathSources(t) {
		function, _, _ := strings.Cut(name, ",")
		tested[function] = true
	}
	check := func(name string, f reflect.Type) {
		for i := range f.NumOut() {
			if pathtest.In(f.Out(i)) && !tested[name] && !slices.Contains(lentPaths, name) {
				t.Errorf("the paths of %s are not tested", name)
			}
		}
	}
	for _, f := range exportedFunctions {
		check(functionName(reflect.ValueOf(f)), reflect.TypeOf(f))
	}
	for _, p := range exportedTypes {
		for i := range reflect.TypeOf(p).NumMethod() {
			m := reflect.TypeOf(p).Method(i)
			check(typeName(reflect.TypeOf(p))+"."+m.Name, m.Type)
		}
	}
}

// pathSources returns what each function with paths in its results returns for some deployments, which are made of text:
// two containers with so many ports each, whose images and names of ports tell who wrote them. What stands behind a comma is
// the case.
func pathSources(t *testing.T) map[string]func() any {
	kind, _ := builtin.Lookup(schema.GVK{Group: "apps", Version: "v1", Kind: "Deployment"})
	secret, _ := builtin.Lookup(schema.GVK{Version: "v1", Kind: "Secret"})
	types, _ := builtin.Type(kind.GVK)
	fields, err := kind.Config("")
	must(t, err)
	fields.Now = func() time.Time { return time.Unix(0, 0) }
	m, err := managedfields.New(fields)
	must(t, err)
	is := func(o managedfields.Object, err error) managedfields.Object { must(t, err); return o }

	live, config := deployment(t, "ab", 3, "live", ""), deployment(t, "ab", 3, "config", "")
	owned := is(m.Apply(is(m.Apply(managedfields.Object{}, live, "ann", false)), live, "eve", false))
	record := `"annotations":{"` + managedfields.LastAppliedAnnotation + `":` + value.String(live.Content.String()).String() + `},`
	fromKubectl := is(m.Update(managedfields.Object{}, deployment(t, "ab", 3, "live", record), "kubectl-client-side-apply"))
	shared := is(m.Apply(fromKubectl, deployment(t, "a", 3, "live", ""), "eve", false))
	absent := live
	absent.Entries = is(m.Apply(managedfields.Object{}, deployment(t, "cd", 3, "gone", ""), "ann", false)).Entries
	lost := managedfields.Object{Content: fromKubectl.Content}
	wrong := deployment(t, "ab", 2, "live", "").Content
	wrong, err = value.Parse([]byte(strings.ReplaceAll(wrong.String(), `"TCP"`, `"wrong"`)))
	must(t, err)
	check := ownership.CheckConfig{Versions: ownership.Versions{Types: map[string]*schema.Type{"apps/v1": types}}}

	plan := func(live managedfields.Object, manager string) *managedfields.Plan {
		p, err := m.Plan(live, config, manager)
		must(t, err)
		return p
	}
	typedOf := func(o managedfields.Object) typed.Value {
		v, err := typed.New(o.Content, types)
		must(t, err)
		return v
	}
	engine := func(config managedfields.Object) *merge.Plan {
		owner := merge.Entry{Manager: merge.Manager{Name: "ann", Operation: merge.Apply}, APIVersion: "apps/v1", Fields: typedOf(live).Fields()}
		p, err := merge.New(merge.Config{}).Apply(merge.Request{
			Live: typedOf(live), Object: typedOf(config), Managers: merge.ManagersOf(owner), APIVersion: "apps/v1",
			Manager: merge.Manager{Name: "bob", Operation: merge.Apply},
		})
		must(t, err)
		return p
	}
	return map[string]func() any{
		"fieldpath.ParsePath": func() any {
			p, err := fieldpath.ParsePath(`.spec.template.spec.containers[name="a"].ports`)
			must(t, err)
			return p
		},
		"fieldpath.Set.All": func() any { return typedOf(live).Fields().All() },
		"typed.New, of a wrong value": func() any {
			v, err := value.Parse([]byte(strings.ReplaceAll(live.Content.String(), `"protocol":"TCP"`, `"protocol":[1],"x":2`)))
			must(t, err)
			_, err = typed.New(v, types)
			return err
		},
		"merge.Plan.Conflicts":         func() any { return engine(config).Conflicts() },
		"merge.Plan.Conflicts, few":    func() any { return engine(deployment(t, "a", 1, "config", "")).Conflicts() },
		"merge.Plan.Decisions":         func() any { return engine(config).Decisions() },
		"managedfields.Plan.Conflicts": func() any { return plan(owned, "bob").Conflicts() },
		"managedfields.Plan.Decisions": func() any { return plan(owned, "bob").Decisions() },
		"managedfields.Plan.TakenOver": func() any { return plan(fromKubectl, "kubectl").TakenOver() },
		"schema/form.Type.Findings":    func() any { return kind.Form().Findings(wrong) },
		"schema/builtin.Kind.Folded": func() any {
			return secret.Folded(fieldpath.Path{fieldpath.Field("stringData"), fieldpath.Field("token")})
		},
		"schema/builtin.Kind.Replicas":    func() any { return kind.Replicas() },
		"ownership.Check":                 func() any { return ownership.Check(absent, check) },
		"ownership.Check, of lost owners": func() any { return ownership.Check(lost, check) },
		"ownership.Owners": func() any {
			all, err := ownership.Owners(owned, types, nil)
			must(t, err)
			return all
		},
		"ownership.PlanMigration": func() any {
			out, err := ownership.PlanMigration(m, shared, deployment(t, "a", 1, "config", ""), []string{"kubectl-client-side-apply"}, "kubectl")
			must(t, err)
			return out
		},
		"ownership.WouldChange": func() any {
			config, err := value.Parse([]byte(strings.ReplaceAll(live.Content.String(), `"cpu":"1"`, `"cpu":"1000m"`)))
			must(t, err)
			out, err := ownership.WouldChange(m, owned, managedfields.Object{Content: config}, "bob")
			must(t, err)
			return out
		},
	}
}

// must ends the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// deployment returns a deployment with a container for each letter of names, with so many ports each. metadata is the
// beginning of its metadata.
func deployment(t *testing.T, names string, ports int, by, metadata string) managedfields.Object {
	t.Helper()
	var containers []string
	for _, name := range strings.Split(names, "") {
		var list []string
		for i := range ports {
			list = append(list, fmt.Sprintf(`{"containerPort":%d,"name":"%s%d","protocol":"TCP"}`, 80+i, by, i))
		}
		containers = append(containers, fmt.Sprintf(
			`{"args":["%s","-x"],"image":"%s","name":"%s","ports":[%s],"resources":{"limits":{"cpu":"1","memory":"1Gi"}}}`,
			by, by, name, strings.Join(list, ","),
		))
	}
	o, err := managedfields.ParseObject([]byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{` + metadata + `"name":"d"},` +
		`"spec":{"selector":{"matchLabels":{"app":"d"}},"template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[` +
		strings.Join(containers, ",") + `]}}}}`))
	must(t, err)
	return o
}
