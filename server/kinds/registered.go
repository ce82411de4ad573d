package kinds

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/api"
)

// kube-apiserver decodes a body by the kind that the body names, and then converts it to the kind of the path. Its scheme also registers
// kinds that no path takes: lists, options, and versions that are gone. So there are two refusals of a wrong kind, one for each step.

// registeredTable is written by oracle/kube/registered.
//
//go:embed registered.txt
var registeredTable string

// registered returns the table: the kinds of each group and version.
var registered = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(registeredTable) {
		words := strings.Fields(line)
		for _, kind := range words[1:] {
			kind, hasList := strings.CutSuffix(kind, "*")
			if out[words[0]] = append(out[words[0]], kind); hasList {
				out[words[0]] = append(out[words[0]], kind+"List")
			}
		}
	}
	return out
})

// Kinds of apimachinery: those that any version has, even one that is not registered, and those of each registered version.
var (
	ofAnyVersion  = []string{"Status", "APIVersions", "APIGroup", "APIGroupList", "APIResourceList"}
	ofEachVersion = []string{
		"WatchEvent", "ListOptions", "GetOptions", "DeleteOptions", "CreateOptions", "UpdateOptions", "PatchOptions",
	}
)

// ofScheme reports whether the scheme that decodes bodies for a group has a version. Two groups have schemes of their own.
func ofScheme(group, apiVersion string) bool {
	own := []string{"apiextensions.k8s.io", aggregationGroup}
	of := schema.ParseGVK(apiVersion, "").Group
	if slices.Contains(own, group) {
		return of == group
	}
	return !slices.Contains(own, of)
}

// WrongKind returns the error of kube-apiserver about a body of a kind that cannot become one of the kind wanted.
func WrongKind(kind, apiVersion string, wanted schema.GVK) error {
	apiVersion = strings.TrimPrefix(apiVersion, "/") // of the core group
	own, isVersion := registered()[apiVersion]
	isVersion = isVersion && ofScheme(wanted.Group, apiVersion)
	version := "v1"
	switch {
	case isVersion && slices.Contains(own, kind):
		version = schema.ParseGVK(apiVersion, kind).Version
	case slices.Contains(ofAnyVersion, kind), (isVersion || apiVersion == "v1") && slices.Contains(ofEachVersion, kind):
	default:
		return api.UnregisteredKind(kind, apiVersion)
	}
	return fmt.Errorf("converting (%s.%s) to (%s): unknown conversion", version, kind, api.InternalType(wanted.Group, wanted.Kind))
}

// Versions returns the groups and versions in which kube-apiserver's scheme has a kind. All of them are read, served or not. Scales are one
// kind in several groups.
func Versions(of schema.GVK) []string {
	var out []string
	for apiVersion, all := range registered() {
		if slices.Contains(all, of.Kind) && (of.Kind == "Scale" || schema.ParseGVK(apiVersion, "").Group == of.Group) {
			out = append(out, apiVersion)
		}
	}
	slices.Sort(out)
	return out
}
