package releases

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

var (
	objects = flag.Int("objects", 100, "how many random objects of each kind are compared")
	only    = flag.String("only", "", "the one kind to compare")
)

// TestStrategies checks that deed stores random objects of built-in kinds as the kube-apiserver of a release does: with its default values, without
// the fields of gates that are off, and with what an endpoint does not write as it was. DEED_STRATEGIES lists versions of k8s.io/kubernetes,
// such as "v1.32.13 v1.33.13".
func TestStrategies(t *testing.T) {
	versions := strings.Fields(os.Getenv("DEED_STRATEGIES"))
	if len(versions) == 0 {
		t.Skip("DEED_STRATEGIES names no versions: each takes its modules from the module proxy, and minutes")
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			program, err := BuildStrategies("..", t.TempDir(), version)
			if err != nil {
				t.Fatal(err)
			}
			compareStored(t, program, version)
		})
	}
}

// compareStored compares what is stored of objects of each kind that a release serves.
func compareStored(t *testing.T, program, version string) {
	release, err := builtin.ReleaseOf(version)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	answers, n, stored := json.NewDecoder(bufio.NewReader(out)), uint64(0), 0
	for k := range release.Kinds() {
		if k.Served == builtin.NotServed || !slices.Contains(k.Verbs, "create") || !slices.Contains(k.Verbs, "get") || *only != "" && k.GVK.Kind != *only {
			continue
		}
		n++
		query := Query{k.GVK.APIVersion(), k.GVK.Kind, k.Hub, n, *objects}
		if err := json.NewEncoder(in).Encode(query); err != nil {
			t.Fatal(err)
		}
		t.Run(k.GVK.String(), func(t *testing.T) {
			for range query.Count {
				var want Stored
				if err := answers.Decode(&want); err != nil {
					t.Fatal(err)
				}
				if !t.Failed() {
					stored += compareObjects(t, k, want)
				}
			}
		})
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
	t.Logf("%d kinds, %d objects of each, %d answers", n, *objects, stored)
}

// compareObjects compares what becomes of two objects, and returns the number of answers.
func compareObjects(t *testing.T, k *builtin.Kind, want Stored) (n int) {
	first, second := parse(t, want.First), parse(t, want.Second)
	if neverStored(k, first) || neverStored(k, second) {
		return 0
	}
	held, err := k.Held(first)
	if err != nil {
		t.Fatal(err)
	}
	if k.Minor() >= 35 || !hasImageVolume(first) { // whose default value depends on their gate, and which are not stored without it
		n += compareStep(t, "read", want.Read, held, first)
	}
	store := func(step, subresource string, text []byte, live, object value.Value) {
		if text == nil {
			return
		}
		held, err := k.Held(object)
		if err == nil {
			held, err = k.Store(subresource, live, object, held)
		}
		if err != nil {
			t.Errorf("%s: %v", step, err)
			return
		}
		n += compareStep(t, step, text, held, live, object)
	}
	store("created", "", want.Created, value.Value{}, first)
	if want.Created == nil {
		return n
	}
	live := parse(t, want.Created)
	store("updated", "", want.Updated, live, second)
	store("status", "status", want.Status, live, second)
	return n
}

// neverStored reports whether v has a part that deed and a release prepare otherwise, but that validation refuses.
func neverStored(k *builtin.Kind, v value.Value) bool {
	refused := isRefused(k, v)
	for _, member := range v.Members() {
		refused = refused || neverStored(k, member)
	}
	for item := range v.Items() {
		refused = refused || neverStored(k, item)
	}
	return refused
}

// isRefused reports whether v is such a part: it has a volume or projected source that has several sources, an empty policy of address families,
// negative resources, or in v1.32 a request of devices without a class, or a device without its kind.
func isRefused(k *builtin.Kind, v value.Value) bool {
	for _, list := range []string{"sources", "volumes"} {
		for source := range v.Get(list).Items() {
			if source.Kind() == value.KindObject && source.With("name", value.Value{}).Len() > 1 {
				return true
			}
		}
	}
	for _, resources := range []string{"limits", "requests"} {
		for _, quantity := range v.Get(resources).Members() {
			if strings.HasPrefix(quantity.Str(), "-") {
				return true
			}
		}
	}
	devices := k.GVK.Group == "resource.k8s.io" && k.Minor() <= 32
	return v.Get("ipFamilyPolicy").Equal(value.String("")) ||
		devices && (lacks(v.Get("requests"), "deviceClassName") || lacks(v.Get("spec", "devices"), "basic"))
}

// lacks reports whether an item of a list of objects has nothing under a name.
func lacks(items value.Value, name string) bool {
	for item := range items.Items() {
		if v := item.Get(name); item.Kind() != value.KindString && (v.IsAbsent() || v.IsNull() || v.Equal(value.String(""))) {
			return true
		}
	}
	return false
}

// hasImageVolume reports whether v has a volume that is an image.
func hasImageVolume(v value.Value) bool {
	for volume := range v.Get("volumes").Items() {
		if !volume.Get("image").IsAbsent() {
			return true
		}
	}
	for _, member := range v.Members() {
		if hasImageVolume(member) {
			return true
		}
	}
	return false
}

// compareStep compares one object without its metadata. It returns 1 unless there is nothing to compare.
func compareStep(t *testing.T, step string, text []byte, got value.Value, of ...value.Value) int {
	if text == nil {
		return 0
	}
	want := apart(parse(t, text))
	if got = apart(got); want.String() != got.String() && !t.Failed() {
		t.Errorf("%s: (-release +deed)\n%s\nof %v", step, cmp.Diff(want.ToAny(), got.ToAny()), of)
	}
	return 1
}

// unknown has, by kind, what a strategy takes from the request, the clock or the object's uid, and what later releases do not have.
var unknown = map[string][][]string{
	"CertificateSigningRequest": {{"spec", "username"}, {"spec", "uid"}, {"spec", "groups"}, {"spec", "extra"},
		{"status", "conditions", "lastTransitionTime"}, {"status", "conditions", "lastUpdateTime"}},
	"DeviceTaintRule":  {{"spec", "deviceSelector"}, {"spec", "taint", "timeAdded"}}, // whose selector had fields up to v1.34
	"Job":              {{"spec", "selector"}, {"spec", "template", "metadata"}},
	"PersistentVolume": {{"status", "lastPhaseTransitionTime"}},
	"Pod":              {{"status", "conditions", "lastTransitionTime"}},
}

// apart returns an object without its metadata and what is unknown.
func apart(object value.Value) value.Value {
	for _, path := range append(unknown[object.Get("kind").Str()], []string{"metadata"}) {
		object = without(object, path)
	}
	return object
}

// without returns v without what path leads to. It leads into all items of lists.
func without(v value.Value, path []string) value.Value {
	if v.Kind() == value.KindList {
		var items []value.Value
		for item := range v.Items() {
			items = append(items, without(item, path))
		}
		return value.List(items...)
	}
	member := v.Get(path[0])
	switch {
	case member.IsAbsent():
		return v
	case len(path) > 1:
		return v.With(path[0], without(member, path[1:]))
	}
	return v.With(path[0], value.Value{})
}

func parse(t *testing.T, text []byte) value.Value {
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
