package flowcontrol

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Maintainer keeps the FlowSchemas and priority levels that a cluster begins with, and the status of all FlowSchemas. Its fields are set
// before it is used.
type Maintainer struct {
	Store           store.Store
	Schemas, Levels *catalog.Resource
	Client          *loopback.Client
	Now             func() time.Time

	mu sync.Mutex // is held by Settle
}

// The field managers of the two parts, as in kube-apiserver.
const (
	producer = "?fieldManager=api-priority-and-fairness-config-producer-v1"
	consumer = "api-priority-and-fairness-config-consumer-v1"
)

// initial is an object that a cluster begins with.
type initial struct {
	object    value.Value
	isLevel   bool
	mandatory bool // and not only suggested: edits of it do not stay
}

func (o initial) name() string { return api.Meta(o.object, "name") }

// initials returns the objects that a cluster begins with, in the order in which kube-apiserver creates them.
var initials = sync.OnceValue(func() (out []initial) {
	add := func(kind string, mandatory bool, object any) {
		v, err := structs.From(object)
		if err != nil {
			panic(err) // the object is part of a library
		}
		v = v.With("apiVersion", value.String(flowcontrolv1.SchemeGroupVersion.String())).With("kind", value.String(kind))
		out = append(out, initial{v, kind == levelKind, mandatory})
	}
	for _, o := range bootstrap.SuggestedPriorityLevelConfigurations {
		add(levelKind, false, o)
	}
	for _, o := range bootstrap.SuggestedFlowSchemas {
		add(schemaKind, false, o)
	}
	for _, o := range bootstrap.MandatoryPriorityLevelConfigurations {
		add(levelKind, true, o)
	}
	for _, o := range bootstrap.MandatoryFlowSchemas {
		add(schemaKind, true, o)
	}
	return out
})

const (
	schemaKind = "FlowSchema"
	levelKind  = "PriorityLevelConfiguration"
)

// MaintenanceInterval is the time after which edits are looked at, as in kube-apiserver: until then, an edit may be followed by one of the
// annotation that keeps it.
const MaintenanceInterval = time.Minute

// Ensure creates the objects that are missing, takes back edits of the others, and deletes what an earlier release began with. The
// annotation apf.kubernetes.io/autoupdate-spec is "true" for objects whose edits are taken back:
//
//	mandatory   always
//	suggested   as a user set the annotation; without one, as long as the spec was not edited
//	unknown     is deleted if it has the annotation
//
// Another server on the same store may do the same at the same time, so conflicts are no errors.
func (m *Maintainer) Ensure(ctx context.Context) error {
	for _, o := range initials() {
		if err := m.ensure(ctx, o); err != nil {
			return fmt.Errorf("%s %s: %w", o.object.Get("kind").Str(), o.name(), err)
		}
	}
	for _, r := range []*catalog.Resource{m.Schemas, m.Levels} {
		if err := m.deleteUnknown(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// collection returns the path of the objects of a resource.
func collection(r *catalog.Resource) string { return loopback.CollectionPath(r.Versions[0], "") }

// ensure creates or revises one object.
func (m *Maintainer) ensure(ctx context.Context, o initial) error {
	path := collection(m.Schemas)
	if o.isLevel {
		path = collection(m.Levels)
	}
	live, err := m.Client.Get(ctx, path+"/"+o.name())
	if errors.IsNotFound(err) {
		err = m.Client.Send(ctx, http.MethodPost, path+producer, o.object)
		if errors.IsAlreadyExists(err) {
			err = nil
		}
		return err
	}
	if err != nil {
		return err
	}
	revised, differs := o.revise(live)
	if !differs {
		return nil
	}
	err = m.Client.Send(ctx, http.MethodPut, path+"/"+o.name()+producer, revised)
	if errors.IsConflict(err) {
		err = nil
	}
	return loopback.IgnoreNotFound(err)
}

// revise returns the stored object as it should be, and whether it differs from that.
func (o initial) revise(live value.Value) (revised value.Value, differs bool) {
	noted, err := isAutoUpdated(live)
	updates := o.mandatory || noted
	if err != nil && !o.mandatory {
		updates = live.Get("metadata", "generation").Int() == 1
	}
	want := o.object.Get("spec")
	if exempt := live.Get("spec", "exempt"); o.isLevel && exempt.Kind() == value.KindObject && want.Get("exempt").Kind() == value.KindObject {
		want = want.With("exempt", exempt) // which every client may edit
	}
	revised = live
	if updates && !live.Get("spec").Equal(want) {
		revised, differs = revised.With("spec", want), true
	}
	if err != nil || noted != updates {
		annotations := live.Get("metadata", "annotations")
		if annotations.Kind() != value.KindObject {
			annotations = value.Object()
		}
		annotations = annotations.With(flowcontrolv1.AutoUpdateAnnotationKey, value.String(strconv.FormatBool(updates)))
		revised, differs = api.WithMetadata(revised, "annotations", annotations), true
	}
	return revised, differs
}

// isAutoUpdated returns what an object says of whether edits are taken back. The error is that it says nothing.
func isAutoUpdated(object value.Value) (bool, error) {
	return strconv.ParseBool(object.Get("metadata", "annotations", flowcontrolv1.AutoUpdateAnnotationKey).Str())
}

// deleteUnknown deletes the objects of a resource whose edits would be taken back and that no cluster begins with.
func (m *Maintainer) deleteUnknown(ctx context.Context, r *catalog.Resource) error {
	stored, err := registry.Objects(ctx, m.Store, r)
	if err != nil {
		return err
	}
	for _, object := range stored {
		name := api.Meta(object, "name")
		isKnown := slices.ContainsFunc(initials(), func(o initial) bool { return o.isLevel == (r == m.Levels) && o.name() == name })
		if updates, err := isAutoUpdated(object); isKnown || err != nil || !updates {
			continue
		}
		if err := m.Client.Send(ctx, http.MethodDelete, collection(r)+"/"+name, value.Value{}); loopback.IgnoreNotFound(err) != nil {
			return fmt.Errorf("%s %s: %w", r.Kind, name, err)
		}
	}
	return nil
}

// Settle writes into the status of each FlowSchema whether its priority level exists, if the status does not say so.
func (m *Maintainer) Settle(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	levels, err := registry.Objects(ctx, m.Store, m.Levels)
	if err != nil {
		return err
	}
	exists := map[string]bool{}
	for _, object := range levels {
		exists[api.Meta(object, "name")] = true
	}
	schemas, err := registry.Objects(ctx, m.Store, m.Schemas)
	if err != nil {
		return err
	}
	for _, object := range schemas {
		name := api.Meta(object, "name")
		want := m.condition(object.Get("spec", "priorityLevelConfiguration", "name").Str(), exists)
		if isSame(conditionOf(object), want) {
			continue
		}
		if err := m.setCondition(ctx, name, want); err != nil {
			return fmt.Errorf("%s %s: %w", schemaKind, name, err)
		}
	}
	return nil
}

// condition returns the condition of a FlowSchema that names a priority level.
func (m *Maintainer) condition(level string, exists map[string]bool) value.Value {
	status, reason, message := flowcontrolv1.ConditionTrue, "NotFound",
		fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q but there is no such object", level)
	if exists[level] {
		status, reason, message = flowcontrolv1.ConditionFalse, "Found",
			fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q and it exists", level)
	}
	return texts("type", string(flowcontrolv1.FlowSchemaConditionDangling), "status", string(status),
		"lastTransitionTime", m.Now().UTC().Format(time.RFC3339), "reason", reason, "message", message)
}

// texts returns an object whose members are texts, from names and texts.
func texts(of ...string) value.Value {
	var members []value.Member
	for pair := range slices.Chunk(of, 2) {
		members = append(members, value.Member{Name: pair[0], Value: value.String(pair[1])})
	}
	return value.Object(members...)
}

// conditionOf returns the condition that a FlowSchema has, absent if it has none.
func conditionOf(object value.Value) value.Value {
	for c := range object.Get("status", "conditions").Items() {
		if c.Get("type").Str() == string(flowcontrolv1.FlowSchemaConditionDangling) {
			return c
		}
	}
	return value.Value{}
}

// isSame reports whether two conditions say the same, whenever they began.
func isSame(a, b value.Value) bool {
	for _, name := range []string{"status", "reason", "message"} {
		if a.Get(name).Str() != b.Get(name).Str() {
			return false
		}
	}
	return true
}

// setCondition applies a condition to a FlowSchema. One that is gone needs none.
func (m *Maintainer) setCondition(ctx context.Context, name string, condition value.Value) error {
	config := texts("apiVersion", flowcontrolv1.SchemeGroupVersion.String(), "kind", schemaKind).
		With("metadata", texts("name", name)).
		With("status", value.Object(value.Member{Name: "conditions", Value: value.List(condition)}))
	return loopback.IgnoreNotFound(m.Client.Apply(ctx, collection(m.Schemas)+"/"+name+"/status", consumer, config))
}
