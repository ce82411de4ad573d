package controllers

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Aggregation gives each ClusterRole with an aggregation rule the rules of the ClusterRoles that it selects, as the controller
// clusterrole-aggregation of kube-controller-manager does.
//
// Its fields are set before it is used.
type Aggregation struct {
	Store  store.Store
	Roles  *catalog.Resource // clusterroles
	Client *loopback.Client
	Report func(what string, err error)
	// Done is a revision at which all roles are aggregated; 0 is unknown. Sync moves it on, in one goroutine at a time.
	Done store.Revision
}

// aggregator is the field manager of aggregated rules.
const aggregator = "clusterrole-aggregation-controller"

// Run aggregates after each change of a ClusterRole, until ctx ends.
func (a *Aggregation) Run(ctx context.Context) {
	Follow(ctx, a.Store, a.Roles.Prefix, a.Sync, func(err error) { a.Report("ClusterRoles are not aggregated", err) })
}

// Sync aggregates once. Rules may pass from one aggregated role to the next, so it goes on until nothing changes. Roles that select each
// other are in line after as many rounds as there are roles.
//
// It does nothing if no role has changed since the last time. Its own writes make it look once more.
func (a *Aggregation) Sync(ctx context.Context) error {
	if a.Done > 0 {
		if batch, err := a.Store.Since(ctx, a.Roles.Prefix, a.Done); err == nil && len(batch.Events) == 0 {
			a.Done = batch.Revision
			return nil
		}
	}
	page, err := a.Store.Range(ctx, store.Range{Prefix: a.Roles.Prefix, Limit: 1}) // of which the revision counts
	if err != nil {
		return err
	}
	stored, err := registry.Objects(ctx, a.Store, a.Roles)
	if err != nil {
		return err
	}
	if err := a.aggregate(ctx, stored); err != nil {
		return err
	}
	a.Done = page.Revision
	return nil
}

// aggregate aggregates the roles among stored, all ClusterRoles.
func (a *Aggregation) aggregate(ctx context.Context, stored []value.Value) error {
	for range stored {
		changed := false
		for i, role := range stored {
			rule := role.Get("aggregationRule")
			if rule.IsAbsent() || rule.IsNull() {
				continue
			}
			rules, err := aggregated(role, stored)
			if err != nil {
				return err
			}
			if rules.Equal(role.Get("rules")) || rules.Len() == 0 && role.Get("rules").Len() == 0 {
				continue
			}
			changed = true
			stored[i] = role.With("rules", rules)
			if err := a.apply(ctx, api.Meta(role, "name"), rules); err != nil {
				return err
			}
		}
		if !changed {
			return nil
		}
	}
	return nil
}

// aggregated returns the rules of the roles that an aggregation rule selects, by the names of the roles and each rule once. A role does not
// select itself.
func aggregated(role value.Value, all []value.Value) (value.Value, error) {
	var rules []value.Value
	for selector := range role.Get("aggregationRule", "clusterRoleSelectors").Items() {
		var of metav1.LabelSelector
		if err := structs.Into(selector, &of); err != nil {
			return value.Value{}, err
		}
		selects, err := metav1.LabelSelectorAsSelector(&of)
		if err != nil {
			return value.Value{}, fmt.Errorf("%s: %w", api.Meta(role, "name"), err)
		}
		for _, other := range all {
			if api.Meta(other, "name") != api.Meta(role, "name") && selects.Matches(labelsOf(other)) {
				rules = appendNew(rules, other.Get("rules"))
			}
		}
	}
	return value.List(rules...), nil
}

// appendNew appends the items that a list does not have yet.
func appendNew(list []value.Value, items value.Value) []value.Value {
next:
	for item := range items.Items() {
		for _, known := range list {
			if known.Equal(item) {
				continue next
			}
		}
		list = append(list, item)
	}
	return list
}

// labelsOf returns the labels of an object.
func labelsOf(object value.Value) labels.Set {
	out := labels.Set{}
	for name, text := range object.Get("metadata", "labels").Members() {
		out[name] = text.Str()
	}
	return out
}

// apply applies the rules of an aggregated role. A role that is gone needs none.
func (a *Aggregation) apply(ctx context.Context, name string, rules value.Value) error {
	config := value.Object(
		value.Member{Name: "apiVersion", Value: value.String(a.Roles.Versions[0].APIVersion())},
		value.Member{Name: "kind", Value: value.String(a.Roles.Kind)},
		value.Member{Name: "metadata", Value: value.Object(value.Member{Name: "name", Value: value.String(name)})},
		value.Member{Name: "rules", Value: rules},
	)
	err := a.Client.Apply(ctx, loopback.CollectionPath(a.Roles.Versions[0], "")+"/"+name, aggregator, config)
	return loopback.IgnoreNotFound(err)
}
