package controllers_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"testing"
	"time"

	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/admission/policy/typecheck"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/builtin"
	"github.com/deed-project/deed/server/catalog/openapi"
)

// schemas has the schemas of built-in kinds.
type schemas struct{ served *catalog.Catalog }

// ResolveSchema returns the schema of a kind.
func (s schemas) ResolveSchema(kind kschema.GroupVersionKind) (*spec.Schema, error) {
	found := openapi.Schema(s.served, schema.GVK{Group: kind.Group, Version: kind.Version, Kind: kind.Kind})
	if found.IsAbsent() {
		return nil, fmt.Errorf("%v: %w", kind, resolver.ErrSchemaNotFound)
	}
	out := &spec.Schema{}
	return out, json.Unmarshal(found.AppendJSON(nil), out)
}

// madeUp finds the names of types that the reference makes up of the time.
var madeUp = regexp.MustCompile(`(Deployment|ConfigMap|HorizontalPodAutoscaler|Job|Event|StatefulSet)\d+`)

// TestTypeCheck compares the warnings with those of the library that kube-controller-manager uses.
func TestTypeCheck(t *testing.T) {
	kinds, err := builtin.Kinds(builtin.Cluster{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	served := catalog.New(kinds...)
	mapper := meta.NewDefaultRESTMapper(nil)
	for r := range served.All() {
		for _, v := range r.Versions {
			gv := kschema.GroupVersion{Group: r.Group, Version: v.Name}
			mapper.AddSpecific(gv.WithKind(r.Kind), gv.WithResource(r.Plural), gv.WithResource(r.Singular), meta.RESTScopeRoot)
		}
	}
	reference := validating.TypeChecker{SchemaResolver: schemas{served}, RestMapper: mapper}
	checker := typecheck.Checker{
		Kinds: func(r kschema.GroupVersionResource) []kschema.GroupVersionKind {
			found, err := mapper.KindsFor(r)
			if err != nil {
				return nil
			}
			return found
		},
		Schema: func(k kschema.GroupVersionKind) (*spec.Schema, error) {
			found, err := schemas{served}.ResolveSchema(k)
			if err != nil {
				return nil, nil
			}
			return found, nil
		},
	}
	warned := 0
	for i, text := range []string{
		policyOf(`"apps"`, `"v1"`, `"deployments"`, `{"expression":"object.spec.replicsa > 1"}`),
		policyOf(`"apps"`, `"v1"`, `"deployments"`, `{"expression":"object.spec.replicas > 1","messageExpression":"object.metadata.nmae"}`),
		policyOf(`"apps"`, `"v1"`, `"deployments"`, `{"expression":"object.spec.replicas + 'a' == 'b'"},{"expression":"object.spec.template.spec.containers.all(c, c.image > 1)"}`),
		policyOf(`"apps","batch"`, `"v1"`, `"deployments","jobs","statefulsets","nothing","deployments/scale"`, `{"expression":"object.spec.replicas > 1"}`),
		policyOf(`"apps"`, `"v1"`, `"*"`, `{"expression":"object.spec.replicsa > 1"}`), policyOf(`"*"`, `"v1"`, `"deployments"`, `{"expression":"object.spec.replicsa > 1"}`),
		policyOf(`""`, `"v1"`, `"events","configmaps"`, `{"expression":"object.reason == 'x' && object.data.size() > 0"}`),
		policyOf(`"autoscaling"`, `"v1","v2"`, `"horizontalpodautoscalers"`, `{"expression":"object.spec.metrics.size() > 0"}`),
		policyOf(`"apps"`, `"v1"`, `"deployments"`, `{"expression":"variables.n > 1"},{"expression":"variables.missing"},{"expression":"variables.bad == 1"}`,
			`"variables":[{"name":"n","expression":"object.spec.replicas"},{"name":"bad","expression":"object.spec.bad"}]`),
		policyOf(`"apps"`, `"v1"`, `"deployments"`, `{"expression":"params.data.max == object.spec.replicas && params.nothing"}`, `"paramKind":{"apiVersion":"v1","kind":"ConfigMap"}`),
		policyOf(`"apps"`, `"v1"`, `"deployments"`, `{"expression":"params.anything.at.all == 1"}`, `"paramKind":{"apiVersion":"example.org/v1","kind":"None"}`),
		policyOf(`"apps"`, `"v1"`, `"deployments"`, `{"expression":"params == null"}`), policyOf(`"apps"`, `"v1"`, `"deployment"`, `{"expression":"object.nothing"}`),
		policyOf(`"apps"`, `"v1"`, `"deployments"`, `{"expression":"request.nothing == 1 || namespaceObject.metadata.ownerReferences == [] || authorizer.requestResource.check('x').allowed()"}`),
		policyOf(`"apps"`, `"v1"`, `"deployments"`, `{"expression":"oldObject.status.conditions[0].type == 1 && object.spec.strategy.rollingUpdate.maxSurge == '5%'"}`),
		policyOf(`"example.org"`, `"v1"`, `"widgets"`, `{"expression":"object.spec.nothing"}`),
	} {
		policy := &registration.ValidatingAdmissionPolicy{}
		if err := json.Unmarshal([]byte(text), policy); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got, err := checker.Check(policy)
		if err != nil {
			t.Errorf("policy %d: %v", i, err)
		}
		want := reference.Check(policy)
		warned += len(want)
		for _, list := range [][]registration.ExpressionWarning{got, want} {
			for i := range list {
				list[i].Warning = madeUp.ReplaceAllString(list[i].Warning, "$1")
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("policy %d, %s:\n got %q\nwant %q", i, text, got, want)
		}
	}
	if warned < 10 {
		t.Errorf("the reference warns only %d times", warned)
	}
}

// policyOf returns a policy for resources.
func policyOf(groups, versions, resources, validations string, more ...string) string {
	members := ""
	for _, m := range more {
		members += "," + m
	}
	return fmt.Sprintf(`{"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":[%s],"apiVersions":[%s],`+
		`"resources":[%s]}]},"validations":[%s]%s}}`, groups, versions, resources, validations, members)
}
