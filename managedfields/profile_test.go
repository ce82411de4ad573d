package managedfields_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// profileOf returns the profile of a release.
func profileOf(t *testing.T, release string) managedfields.Profile {
	t.Helper()
	p, err := managedfields.ProfileOf(release)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ofRelease returns the field manager of Things in a release.
func ofRelease(t *testing.T, release string) *managedfields.FieldManager {
	t.Helper()
	return kindtest.Manager(func(c *managedfields.Config) { c.Profile = profileOf(t, release) })
}

func TestProfilesOfReleases(t *testing.T) {
	for release, want := range map[string]managedfields.Profile{
		"1.31":     {AllKeys: true, ForgetOnFailure: true, PassOverTrailing: true},
		"v1.33.13": {AllKeys: true, ForgetOnFailure: true, PassOverTrailing: true},
		"1.34":     {ForgetOnFailure: true, PassOverTrailing: true},
		"v1.36.0":  {KeepEmptied: true, ForgetOnFailure: true, PassOverTrailing: true},
		"1.36.2":   {KeepEmptied: true, ForgetOnFailure: true, PassOverTrailing: true},
		"1.36.3":   {ForgetOnFailure: true, PassOverTrailing: true},
		"1.36":     {ForgetOnFailure: true, PassOverTrailing: true},
		"v1.37.1":  {},
	} {
		if got := profileOf(t, release); got != want {
			t.Errorf("%s: got %+v, want %+v", release, got, want)
		}
	}
	for release, want := range map[string]string{
		"":         `"" is not a release of Kubernetes, such as 1.37`,
		"1":        `"1" is not a release of Kubernetes, such as 1.37`,
		"1.33.x":   `"1.33.x" is not a release of Kubernetes, such as 1.37`,
		"1.33.1.1": `"1.33.1.1" is not a release of Kubernetes, such as 1.37`,
		"1.30":     "release 1.30 is not known: those from 1.31 to 1.37 are",
		"2.33":     "release 2.33 is not known: those from 1.31 to 1.37 are",
	} {
		if p, err := managedfields.ProfileOf(release); err == nil || err.Error() != want || p != (managedfields.Profile{}) {
			t.Errorf("%q: got %+v, %v, want %s", release, p, err, want)
		}
	}
}

// Up to v1.33 the second key of a port, which has a default, is not enough.
func TestAllKeys(t *testing.T) {
	const ports = `"spec":{"containers":[{"name":"web","ports":[{"hostPort":80}]}]}`
	if _, err := ofRelease(t, "1.34").Apply(managedfields.Object{}, kindtest.New(t, ports), "alpha", false); err != nil {
		t.Errorf("v1.34: %v", err)
	}
	_, err := ofRelease(t, "1.33").Apply(managedfields.Object{}, kindtest.New(t, ports), "alpha", false)
	const want = `.spec.containers[name="web"].ports: element 0: associative list with keys has an element that omits key field "port" (and doesn't have default value)`
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("v1.33: got %v, want %s", err, want)
	}
}

// The first releases of v1.36 leave an empty object where others leave null: alpha owns an object, and beta no longer applies what is in
// it.
func TestKeepEmptied(t *testing.T) {
	for release, want := range map[string]string{"1.35": `{"quota":null}`, "1.36.2": `{"quota":{}}`, "1.36.3": `{"quota":null}`} {
		m := ofRelease(t, release)
		live, err := m.Update(managedfields.Object{}, kindtest.New(t, `"spec":{"quota":{}}`), "alpha")
		if err != nil {
			t.Fatal(err)
		}
		for _, quota := range []string{`"spec":{"quota":{"cpu":1}}`, ``} {
			if live, err = m.Apply(live, kindtest.New(t, quota), "beta", false); err != nil {
				t.Fatal(err)
			}
		}
		if got := live.Content.Get("spec").String(); got != want {
			t.Errorf("%s: got %s, want %s", release, got, want)
		}
	}
}

// Up to v1.36 an update of an object that the type does not admit leaves no managed fields.
func TestForgetOnFailure(t *testing.T) {
	for release, want := range map[string]int{"1.36": 0, "1.37": 1} {
		m := ofRelease(t, release)
		live, err := m.Apply(managedfields.Object{}, kindtest.New(t, `"spec":{"replicas":1}`), "alpha", false)
		if err != nil {
			t.Fatal(err)
		}
		out, err := m.Update(live, kindtest.New(t, `"spec":{"replicas":"many"}`), "beta")
		if err == nil || len(out.Entries) != want {
			t.Errorf("%s: %d entries, %v; want %d and an error", release, len(out.Entries), err, want)
		}
	}
}

// Up to v1.36 text behind the value of an item is passed over, in every form of managed fields.
func TestPassOverTrailing(t *testing.T) {
	const stored = `{"f:spec":{"f:finalizers":{"v:\"a\"}":{}}}}`
	document, err := value.Parse([]byte(stored))
	if err != nil {
		t.Fatal(err)
	}
	for _, fields := range []managedfields.Fields{managedfields.FieldsOf(stored), managedfields.FieldsOf([]byte(stored)), managedfields.FieldsOf(document)} {
		for release, want := range map[string]string{
			"1.36": `{"f:spec":{"f:finalizers":{"v:\"a\"":{}}}}`,
			"1.37": `failed to decode managed fields: metadata.managedFields[0], manager "alpha": error decoding set: ` +
				`invalid fieldsV1 at byte 27: element "v:\"a\"}": data after the document`,
		} {
			live := kindtest.New(t, `"metadata":{"finalizers":["a"]}`)
			live.Entries = []managedfields.Entry{{Manager: "alpha", Operation: "Update", APIVersion: live.Content.Get("apiVersion").Str(),
				FieldsType: "FieldsV1", FieldsV1: fields}}
			out, err := ofRelease(t, release).Apply(live, kindtest.New(t, `"spec":{"replicas":1}`), "beta", false)
			got := fmt.Sprint(err)
			if err == nil {
				got = out.Entries[1].FieldsV1.String()
			}
			if got != want {
				t.Errorf("%s: got %s, want %s", release, got, want)
			}
		}
	}
}
