package api

import (
	"errors"
	"net/url"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/deed-project/deed/internal/testing/seeds"
)

// FuzzQuery parses any query as the options of each kind of request. Nothing may panic, each refusal must have a status, and each selector
// must parse again to what it prints.
func FuzzQuery(f *testing.F) {
	seeds.Fuzz(f, []string{
		"labelSelector=a+in+(b,c),!d,e!=f,g>1&limit=5", "fieldSelector=metadata.name%3Da\\,b,c!%3Dd", "watch=1&timeoutSeconds=-1&allowWatchBookmarks=false",
		"resourceVersion=1&resourceVersionMatch=NotOlderThan&continue=x&sendInitialEvents", "dryRun=All&dryRun=None&fieldManager=%00&fieldValidation=Warn",
		"force=true&fieldManager=a", "gracePeriodSeconds=0&propagationPolicy=Orphan&orphanDependents=1&ignoreStoreReadErrorWithClusterBreakingPotential=true",
	}, func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		refused := func(what string, err error) bool {
			if status := apierrors.APIStatus(nil); err != nil && !errors.As(err, &status) {
				t.Errorf("%s are refused without a status: %v", what, err)
			}
			return err != nil
		}
		if o, err := ParseListOptions(values); !refused("list options", err) {
			if again, err := labels.Parse(o.Labels.String()); err != nil || again.String() != o.Labels.String() {
				t.Errorf("the label selector %q is printed as %q: %v", values.Get("labelSelector"), o.Labels, err)
			}
			if again, err := fields.ParseSelector(o.Fields.String()); err != nil || again.String() != o.Fields.String() {
				t.Errorf("the field selector %q is printed as %q: %v", values.Get("fieldSelector"), o.Fields, err)
			}
		}
		if o, err := ParseDeleteOptions(values); !refused("delete options", err) {
			refused("delete options", CheckDeleteOptions(o))
		}
		_, err = ParseCreateOptions(values)
		refused("create options", err)
		_, err = ParseUpdateOptions(values)
		refused("update options", err)
		for _, patch := range []types.PatchType{types.MergePatchType, types.ApplyYAMLPatchType} {
			_, err = ParsePatchOptions(values, patch)
			refused("patch options", err)
		}
	})
}

// FuzzTarget parses any path. A target must have a resource, and a trailing slash must not matter.
func FuzzTarget(f *testing.F) {
	seeds.Fuzz(f, []string{
		"/api/v1/namespaces/default/pods/a/log", "/apis/apps/v1/deployments", "/apis/g/v1/watch/namespaces/a/things/b", "/api/v1/namespaces/a/finalize",
		"/api//v1", "/apis/g", "/api/v1/namespaces/a/pods/b/proxy/c/d/", "/api/v1/watch/pods",
	}, func(t *testing.T, path string) {
		target, ok := ParseTarget(path)
		if ok && target.Resource == "" {
			t.Errorf("%q is a path of %+v", path, target)
		}
		if again, also := ParseTarget(path + "/"); again != target || also != ok {
			t.Errorf("%q is a path of %+v, %+v with a slash", path, target, again)
		}
	})
}
