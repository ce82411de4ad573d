// Package peer runs the field manager of k8s.io/apimachinery, which serves apply requests in kube-apiserver, on objects in JSON. It is the
// reference for deed's answers.
//
// A [Peer] belongs to one kind, subresource and form of objects. It keeps no object: each call takes the live object and returns the new
// one, so that a history is a loop of the caller. It uses the wall clock, so run it in a testing/synctest bubble.
package peer

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/deed-project/deed/kube"
	"github.com/deed-project/deed/oracle/kinds"
)

// Config configures a Peer. Only GVK is required.
type Config struct {
	GVK         schema.GroupVersionKind // of the endpoint, and so of applied configurations
	Subresource string                  // empty for the main resource
	ResetFields map[fieldpath.APIVersion]fieldpath.Filter

	// Types types objects. Nil means the types of the built-in kinds.
	Types managedfields.TypeConverter

	// Scheme, if set, makes live and updated objects Go structs, and converts and defaults them. Applied configurations stay unstructured,
	// as in kube-apiserver. Nil means unstructured objects, which Converter and Defaulter serve.
	Scheme *runtime.Scheme

	// Hub is the version in which Scheme's objects are passed in and returned. The zero Hub is the version of GVK.
	Hub schema.GroupVersion

	// Converter converts unstructured objects between versions. Nil means that versions differ in apiVersion only.
	Converter runtime.ObjectConvertor

	// Defaulter sets defaults after an apply of unstructured objects. Nil means no defaults.
	Defaulter runtime.ObjectDefaulter

	// DropIn selects deed's replacement of the field manager, kube.FieldManager.
	DropIn bool

	// Custom selects the chain of custom resources, whose hub is the endpoint's version in every group.
	Custom bool
}

// Peer manages the fields of objects of one kind. It is safe for concurrent use.
type Peer struct {
	config  Config
	manager Manager
}

// Manager is a field manager with the methods of apimachinery's.
type Manager interface {
	Apply(liveObj, appliedObj runtime.Object, manager string, force bool) (runtime.Object, error)
	Update(liveObj, newObj runtime.Object, manager string) (runtime.Object, error)
	UpdateNoErrors(liveObj, newObj runtime.Object, manager string) runtime.Object
}

// machine makes, converts and defaults objects for the field manager.
type machine interface {
	runtime.ObjectConvertor
	runtime.ObjectDefaulter
	runtime.ObjectCreater
}

// New returns a Peer for config.
func New(config Config) (*Peer, error) {
	if config.Types == nil {
		src, ok := kinds.Of(config.GVK)
		if !ok {
			return nil, fmt.Errorf("no built-in kinds in the group of %v", config.GVK)
		}
		config.Types = src.Types
	}
	var m machine = unstructuredParts(config)
	if config.Scheme != nil {
		m = parts{runtime.UnsafeObjectConvertor(config.Scheme), config.Scheme, config.Scheme}
	}
	if config.Hub.Empty() {
		config.Hub = config.GVK.GroupVersion()
	}
	manager, err := newManager(config, m)
	if err != nil {
		return nil, err
	}
	return &Peer{config, manager}, nil
}

func newManager(config Config, m machine) (Manager, error) {
	if config.DropIn {
		build := kube.NewDefaultFieldManager
		if config.Custom {
			build = kube.NewDefaultCRDFieldManager
		}
		return build(config.Types, m, m, m, config.GVK, config.Hub, config.Subresource, config.ResetFields)
	}
	build := managedfields.NewDefaultFieldManager
	if config.Custom {
		build = managedfields.NewDefaultCRDFieldManager
	}
	return build(config.Types, m, m, m, config.GVK, config.Hub, config.Subresource, config.ResetFields)
}

// Manager returns the field manager, for callers with decoded objects.
func (p *Peer) Manager() Manager { return p.manager }

// Apply answers a server-side apply of config on live by manager. Empty live means that there is no object yet.
func (p *Peer) Apply(live, config []byte, manager string, force bool) Answer {
	liveObj, err := p.Decode(live)
	if err != nil {
		return Answer{Err: err}
	}
	configObj, err := decodeUnstructured(config)
	if err != nil {
		return Answer{Err: err}
	}
	return AnswerOf(p.manager.Apply(liveObj, configObj, manager, force))
}

// Update answers a write by manager that turns live into object. Empty live means that there is no object yet.
func (p *Peer) Update(live, object []byte, manager string) Answer {
	liveObj, newObj, err := p.decodeBoth(live, object)
	if err != nil {
		return Answer{Err: err}
	}
	return AnswerOf(p.manager.Update(liveObj, newObj, manager))
}

// UpdateNoErrors is Update in the way of request handlers: if it fails, the answer is object with live's managed fields.
func (p *Peer) UpdateNoErrors(live, object []byte, manager string) Answer {
	liveObj, newObj, err := p.decodeBoth(live, object)
	if err != nil {
		return Answer{Err: err}
	}
	return AnswerOf(p.manager.UpdateNoErrors(liveObj, newObj, manager), nil)
}

func (p *Peer) decodeBoth(live, object []byte) (liveObj, newObj runtime.Object, err error) {
	if liveObj, err = p.Decode(live); err != nil {
		return nil, nil, err
	}
	newObj, err = p.Decode(object)
	return liveObj, newObj, err
}

// Decode decodes text in the form of the Peer's objects. Empty text gives an empty object of the Peer's kind.
func (p *Peer) Decode(text []byte) (runtime.Object, error) {
	if len(text) == 0 {
		return p.empty()
	}
	obj, err := decodeUnstructured(text)
	if err != nil || p.config.Scheme == nil {
		return obj, err
	}
	into, err := p.config.Scheme.New(obj.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	return into, json.Unmarshal(text, into)
}

func (p *Peer) empty() (runtime.Object, error) {
	if p.config.Scheme == nil {
		return unstructuredParts(p.config).New(p.config.GVK)
	}
	gvk := p.config.Hub.WithKind(p.config.GVK.Kind)
	obj, err := p.config.Scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return obj, nil
}

// decodeUnstructured decodes any JSON object, even without apiVersion and kind.
func decodeUnstructured(text []byte) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{}
	if err := json.Unmarshal(text, &obj.Object); err != nil {
		return nil, err
	}
	return obj, nil
}
