package quota

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/sets"
	config "k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota/install"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota/validation"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/plugins"
	"github.com/deed-project/deed/value"
)

// Limited resources: what objects may use only if a quota covers it. The configuration of the plugin lists them.

// Limited is a limited resource.
type Limited = config.LimitedResource

// codecs reads configurations. They are made when the first one is read.
var codecs = sync.OnceValue(func() serializer.CodecFactory {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict)
})

// Read reads a ResourceQuotaConfiguration of the group apiserver.config.k8s.io, or one of an older version, as YAML or JSON. It returns the
// limited resources.
func Read(text []byte) ([]Limited, error) {
	object, err := runtime.Decode(codecs().UniversalDecoder(), text)
	if err != nil {
		return nil, err
	}
	c, is := object.(*config.Configuration)
	if !is {
		return nil, fmt.Errorf("unexpected type: %T", object)
	}
	return c.LimitedResources, validation.ValidateConfiguration(c).ToAggregate()
}

// uncovered returns what an object of a resource uses or is, and no quota covers: the names of limited resources, and the limited scopes. used is
// its usage, and bounded are the names that quotas bound for it.
func uncovered(
	limited []Limited, of kschema.GroupResource, object value.Value, used plugins.Amounts, quotas []stored, bounded sets.Set[string],
) (names []string, scopes []corev1.ScopedResourceSelectorRequirement) {
	for _, l := range limited {
		for _, s := range l.MatchScopes {
			if inScope(string(s.ScopeName), string(s.Operator), s.Values, of, object) && !covers(quotas, string(s.ScopeName), of, object) {
				scopes = append(scopes, s)
			}
		}
		if l.APIGroup != of.Group || l.Resource != of.Resource {
			continue
		}
		for name, amount := range used {
			isLimited := slices.ContainsFunc(l.MatchContains, func(part string) bool { return strings.Contains(name, part) })
			if amount.Sign() > 0 && isLimited && !bounded.Has(name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), scopes
}

// covers reports whether a quota has a scope, by whatever operator, that holds for an object.
func covers(quotas []stored, scope string, of kschema.GroupResource, object value.Value) bool {
	return slices.ContainsFunc(quotas, func(q stored) bool {
		for s := range scopesOf(q.Value) {
			if s.name == scope && inScope(s.name, s.operator, s.values, of, object) {
				return true
			}
		}
		return false
	})
}

// changesUsage reports whether a write changes what is used. used is the usage of the new object, and bounding are the quotas that bound it.
func changesUsage(r *admission.Request, of kschema.GroupResource, used plugins.Amounts, quotas []stored, bounding []int, b beside) (bool, error) {
	old, delta := r.Old.Content(), used
	isNew := r.Operation != admission.Update || slices.ContainsFunc(bounding, func(i int) bool { return !matches(quotas[i].Value, of, old) })
	if !isNew {
		before, err := usageOf(of, old, b)
		if err != nil {
			return false, err
		}
		delta = used.Less(before)
	}
	for _, amount := range delta {
		if !amount.IsZero() {
			return true, nil
		}
	}
	return false, nil
}
