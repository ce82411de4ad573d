package builtin

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/deed-project/deed/schema/builtin"
)

// RuntimeConfig switches versions of built-in kinds on and off, with the keys of kube-apiserver's flag --runtime-config:
//
//	api/all                       all versions
//	api/ga, api/beta, api/alpha   all versions like v1, like v1beta1, or like v1alpha1
//	batch/v1, api/v1              a version; the core group is called api
//	batch/v1/jobs                 a resource in a version
//
// A key counts more than those on earlier lines. Without a key, versions are served that kube-apiserver serves by default.
//
// Unlike there, api/all=false leaves what the server itself works with: definitions, reviews, and the versions v1 of the core group, of
// admission, aggregation, flow control, roles and priority classes.
type RuntimeConfig map[string]bool

// needed are the versions that the server itself works with.
var needed = []string{
	"api/v1", "admissionregistration.k8s.io/v1", "apiregistration.k8s.io/v1", "flowcontrol.apiserver.k8s.io/v1", "rbac.authorization.k8s.io/v1",
	"scheduling.k8s.io/v1",
}

// Keys of many versions.
const (
	apiAll   = "api/all"
	apiGA    = "api/ga"
	apiBeta  = "api/beta"
	apiAlpha = "api/alpha"
)

// keyForms says what keys look like.
const keyForms = "keys are api/all, api/ga, api/beta, api/alpha, GROUP/VERSION and GROUP/VERSION/RESOURCE, and the core group is api"

// Check returns an error if a key has the wrong form, or names a group or a version that is not known, or switches off what the server works with.
func (c RuntimeConfig) Check() error {
	if len(c) == 0 {
		return nil
	}
	if on, set := c[apiAll]; set && !on && len(c) == 1 {
		return fmt.Errorf("runtime-config: %s=false needs keys of what is served", apiAll)
	}
	groups, versions := map[string]bool{}, map[string]bool{}
	for k := range builtin.Kinds() {
		name := versionKey(k)
		groups[k.GVK.Group], versions[name] = true, true
	}
	var unknown []string
	for _, key := range slices.Sorted(maps.Keys(c)) {
		parts := strings.Split(key, "/")
		switch {
		case slices.Contains([]string{apiAll, apiGA, apiBeta, apiAlpha}, key):
		case len(parts) != 2 && len(parts) != 3:
			return fmt.Errorf("runtime-config: invalid key %s: "+keyForms, key)
		case parts[0] != core && !groups[parts[0]]:
			unknown = append(unknown, parts[0]+"/"+parts[1])
		case !versions[parts[0]+"/"+parts[1]]:
			return fmt.Errorf("runtime-config: version %s/%s is not known", parts[0], parts[1])
		case len(parts) == 3 && strings.ToLower(parts[2]) != parts[2]:
			return fmt.Errorf("runtime-config: invalid key %s: resources have lower-case plural names", key)
		case !c[key] && slices.Contains(needed, parts[0]+"/"+parts[1]):
			return fmt.Errorf("runtime-config: %s=false: the server itself works with %s/%s", key, parts[0], parts[1])
		}
	}
	if len(unknown) > 0 {
		return fmt.Errorf("runtime-config: groups of %s are not known", strings.Join(unknown, ", "))
	}
	return nil
}

// core is what keys call the core group.
const core = "api"

// versionKey returns the key of the version of a kind.
func versionKey(k *builtin.Kind) string {
	if k.GVK.Group == "" {
		return core + "/" + k.GVK.Version
	}
	return k.GVK.APIVersion()
}

// serves reports whether a version of a kind is served.
func (c RuntimeConfig) serves(k *builtin.Kind) bool {
	if len(c) == 0 {
		return k.Served == builtin.ServedByDefault
	}
	stage, version := apiGA, versionKey(k)
	if k.Served == builtin.NotServed || slices.Contains(needed, version) {
		return k.Served != builtin.NotServed
	}
	switch {
	case strings.Contains(k.GVK.Version, "alpha"):
		stage = apiAlpha
	case strings.Contains(k.GVK.Version, "beta"):
		stage = apiBeta
	}
	serves := k.Served == builtin.ServedByDefault
	for _, key := range []string{apiAll, stage, version, version + "/" + k.Resource} {
		if on, set := c[key]; set {
			serves = on
		}
	}
	return serves
}
