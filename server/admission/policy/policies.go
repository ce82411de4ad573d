package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	registration "k8s.io/api/admissionregistration/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/expressions"
	"github.com/deed-project/deed/server/admission/match"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Config says what policies may read.
type Config struct {
	// Namespace returns a stored namespace, or an absent value if it does not exist.
	Namespace func(ctx context.Context, name string) (value.Value, error)
	// Params returns the parameters of a kind, or nil if the kind is not served.
	Params func(kind kschema.GroupVersionKind) Params
	// Authorize answers expressions that check permissions.
	Authorize expressions.Authorize
}

// Params are the parameters of a kind: the objects that bindings may name.
type Params interface {
	// Namespaced reports whether the objects are in namespaces.
	Namespaced() bool
	// New returns a pointer to an empty object of the Go type, nil if a definition defines the kind.
	New() any
	// Get returns an object, absent if it does not exist.
	Get(ctx context.Context, namespace, name string) (value.Value, error)
	// List returns the objects in a namespace, or all of a kind that has no namespaces.
	List(ctx context.Context, namespace string) ([]value.Value, error)
}

// Policies is the plugin that enforces policies. It is safe for concurrent use.
//
// The two lists are replaced as a whole. A request works on the list that it found when it began.
type Policies struct {
	config     Config
	authorizer authorizer.UnconditionalAuthorizer

	mutating, validating atomic.Pointer[list]
}

// New returns a plugin without policies.
func New(c Config) *Policies {
	p := &Policies{config: c, authorizer: expressions.Authorizer(c.Authorize)}
	p.mutating.Store(&list{})
	p.validating.Store(&list{})
	return p
}

// policy is a policy in its Go type, with its bindings. It does not change, except that the first request that needs its expressions
// compiles them.
type policy struct {
	name        string
	failOpen    bool // a failure admits the request
	paramKind   *registration.ParamKind
	constraints resources
	variables   []registration.Variable
	conditions  []registration.MatchCondition
	validations []registration.Validation
	annotations []registration.AuditAnnotation
	mutations   []registration.Mutation
	reinvoked   bool // evaluate it again if another plugin changes the object later

	spec     value.Value // the policy is what is compiled of it
	compiled *compiled
	bindings []*binding
}

// binding is a binding of a policy. It is immutable.
type binding struct {
	name      string
	policy    string
	params    *registration.ParamRef
	resources *resources // nil for all that the policy matches
	actions   []registration.ValidationAction
}

// list holds the policies that have bindings, by name. It does not change.
type list struct {
	policies []*policy
	known    match.Cache[[]*policy]
}

// Use replaces the policies and bindings by those that are given: objects of the four kinds of admissionregistration.k8s.io/v1, with their
// defaults. The error names the objects that cannot be read; Use takes the others.
//
// A policy without a binding has no effect, and neither has a binding without its policy. Policies and bindings take effect in the order of
// their names; kube-apiserver has no order. Expressions of policies that were in use before are not compiled again.
func (p *Policies) Use(objects []value.Value) error {
	var errs []error
	policies, bindings := map[bool]map[string]*policy{true: {}, false: {}}, map[bool][]*binding{}
	for _, o := range objects {
		kind := o.Get("kind").Str()
		isMutating := kind == mutatingKind || kind == mutatingKind+bindingSuffix
		switch kind {
		case mutatingKind, validatingKind:
			read, err := readPolicy(o)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			policies[isMutating][read.name] = read
		case mutatingKind + bindingSuffix, validatingKind + bindingSuffix:
			read, err := readBinding(o)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			bindings[isMutating] = append(bindings[isMutating], read)
		default:
			errs = append(errs, fmt.Errorf("kind %q is no admission policy and no binding of one", kind))
		}
	}
	use(&p.mutating, policies[true], bindings[true])
	use(&p.validating, policies[false], bindings[false])
	return errors.Join(errs...)
}

// The kinds.
const (
	mutatingKind   = "MutatingAdmissionPolicy"
	validatingKind = "ValidatingAdmissionPolicy"
	bindingSuffix  = "Binding"
)

// use stores a list of policies. It takes over what was compiled of the former list.
func use(in *atomic.Pointer[list], policies map[string]*policy, bindings []*binding) {
	was := map[string]*policy{}
	for _, known := range in.Load().policies {
		was[known.name] = known
	}
	slices.SortStableFunc(bindings, func(a, b *binding) int { return cmp.Compare(a.name, b.name) })
	next := &list{}
	for _, b := range bindings {
		of := policies[b.policy]
		if of == nil {
			continue
		}
		if len(of.bindings) == 0 {
			next.policies = append(next.policies, of)
		}
		of.bindings = append(of.bindings, b)
	}
	slices.SortFunc(next.policies, func(a, b *policy) int { return cmp.Compare(a.name, b.name) })
	for _, now := range next.policies {
		if known := was[now.name]; known != nil && known.spec.Equal(now.spec) {
			now.compiled = known.compiled
		}
	}
	in.Store(next)
}

// readPolicy reads a policy of either kind.
func readPolicy(object value.Value) (*policy, error) {
	p := &policy{name: object.Get("metadata", "name").Str(), spec: object.Get("spec"), compiled: &compiled{}}
	var constraints *registration.MatchResources
	var failure *registration.FailurePolicyType
	if object.Get("kind").Str() == mutatingKind {
		var of registration.MutatingAdmissionPolicySpec
		if err := structs.Into(p.spec, &of); err != nil {
			return nil, fmt.Errorf("%s %s: %w", mutatingKind, p.name, err)
		}
		constraints, failure, p.paramKind, p.variables, p.conditions = of.MatchConstraints, of.FailurePolicy, of.ParamKind, of.Variables, of.MatchConditions
		p.mutations, p.reinvoked = of.Mutations, of.ReinvocationPolicy == registration.IfNeededReinvocationPolicy
	} else {
		var of registration.ValidatingAdmissionPolicySpec
		if err := structs.Into(p.spec, &of); err != nil {
			return nil, fmt.Errorf("%s %s: %w", validatingKind, p.name, err)
		}
		constraints, failure, p.paramKind, p.variables, p.conditions = of.MatchConstraints, of.FailurePolicy, of.ParamKind, of.Variables, of.MatchConditions
		p.validations, p.annotations = of.Validations, of.AuditAnnotations
	}
	p.failOpen = failure != nil && *failure == registration.Ignore
	if constraints == nil {
		return nil, fmt.Errorf("policy %s has no match constraints", p.name)
	}
	var err error
	if p.constraints, err = compileResources(constraints); err != nil {
		return nil, fmt.Errorf("policy %s: %w", p.name, err)
	}
	return p, nil
}

// readBinding reads a binding of either kind. A binding of a mutating policy has no validation actions.
func readBinding(object value.Value) (*binding, error) {
	var of registration.ValidatingAdmissionPolicyBindingSpec
	name := object.Get("metadata", "name").Str()
	if err := structs.Into(object.Get("spec"), &of); err != nil {
		return nil, fmt.Errorf("%s %s: %w", object.Get("kind").Str(), name, err)
	}
	b := &binding{name: name, policy: of.PolicyName, params: of.ParamRef, actions: of.ValidationActions}
	if of.MatchResources != nil {
		compiled, err := compileResources(of.MatchResources)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", object.Get("kind").Str(), name, err)
		}
		b.resources = &compiled
	}
	return b, nil
}

// candidates returns the policies whose rules may match a request, by name.
//
// A cache keeps them for all requests of a kind. The outcome is shared and must not be modified.
func (l *list) candidates(q *admission.Request) []*policy {
	if len(l.policies) == 0 || exempt(q) {
		return nil
	}
	return l.known.Get(q, func() (found []*policy) {
		for _, p := range l.policies {
			if p.constraints.mayMatch(q) {
				found = append(found, p)
			}
		}
		return found
	})
}
