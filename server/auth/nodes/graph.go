package nodes

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/replica"
	"github.com/deed-project/deed/value"
)

// Plural names of resources.
const (
	secrets                   = "secrets"
	configMaps                = "configmaps"
	claims                    = "persistentvolumeclaims"
	volumes                   = "persistentvolumes"
	resourceClaims            = "resourceclaims"
	attachments               = "volumeattachments"
	accounts                  = "serviceaccounts"
	slicesOfNodes             = "resourceslices"
	pods                      = "pods"
	certificateRequestsOfPods = "podcertificaterequests"
)

// mirror is the annotation of a pod that mirrors one of a kubelet. Such a pod makes no object readable but itself.
const mirror = "kubernetes.io/config.mirror"

// Authorizer decides by what the pods of a node use. It is safe for concurrent use.
type Authorizer struct {
	Store store.Store
	// Role reports whether the rules of the ClusterRole system:node allow an action.
	Role func(auth.Action) bool
	// Log gets the errors of the store. Such an error refuses the action.
	Log logs.Logger

	mu       sync.Mutex
	replicas map[string]*replica.Replica[*user] // by resource
	users    map[object]map[*user]bool          // of each object that something uses
}

// object names an object. The namespace is empty for resources without namespaces.
type object struct{ resource, namespace, name string }

// user is an object that makes others readable: a pod on a node or a volume of a claim. It uses itself.
type user struct {
	node  string // "" for a volume
	claim object // of a volume
	uses  []object
}

// prefixes are those of the keys of users, by resource.
var prefixes = map[string]string{
	pods:                      "/registry/pods/",
	volumes:                   "/registry/persistentvolumes/",
	attachments:               "/registry/volumeattachments/",
	slicesOfNodes:             "/registry/resourceslices/",
	certificateRequestsOfPods: "/registry/podcertificaterequests/",
}

// sources lists which users make the objects of a resource readable.
var sources = map[string][]string{
	secrets: {pods, volumes}, configMaps: {pods}, claims: {pods}, volumes: {pods, volumes}, resourceClaims: {pods}, accounts: {pods}, pods: {pods},
	attachments: {attachments}, slicesOfNodes: {slicesOfNodes}, certificateRequestsOfPods: {certificateRequestsOfPods},
}

// isRelated reports whether an object belongs to a node, or is used by a pod on it. A pod also uses the volumes of its claims.
func (a *Authorizer) isRelated(ctx context.Context, node string, o object) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, resource := range sources[o.resource] {
		if err := a.replica(resource).CatchUp(ctx, a.Store); err != nil {
			return false, err
		}
	}
	return a.isUsed(node, o), nil
}

// isUsed reports whether an object is used by something on a node. A volume is on the nodes of its claim.
func (a *Authorizer) isUsed(node string, o object) bool {
	for u := range a.users[o] {
		if u.node == node || u.node == "" && a.isUsed(node, u.claim) {
			return true
		}
	}
	return false
}

// replica returns the replica of the users of a resource.
func (a *Authorizer) replica(resource string) *replica.Replica[*user] {
	if r := a.replicas[resource]; r != nil {
		return r
	}
	if a.replicas == nil {
		a.replicas, a.users = map[string]*replica.Replica[*user]{}, map[object]map[*user]bool{}
	}
	r := &replica.Replica[*user]{
		Prefix: prefixes[resource], Added: a.add, Removed: a.remove,
		Derive: func(o value.Value) (*user, error) { return userOf(resource, o), nil },
	}
	a.replicas[resource] = r
	return r
}

func (a *Authorizer) add(u *user) {
	for _, o := range u.uses {
		if a.users[o] == nil {
			a.users[o] = map[*user]bool{}
		}
		a.users[o][u] = true
	}
}

func (a *Authorizer) remove(u *user) {
	for _, o := range u.uses {
		if delete(a.users[o], u); len(a.users[o]) == 0 {
			delete(a.users, o)
		}
	}
}

// userOf returns an object as a user of others. It uses nothing unless it is on a node or, as a volume, has a claim.
func userOf(resource string, o value.Value) *user {
	metadata, spec := o.Get("metadata"), o.Get("spec")
	self := object{resource, metadata.Get("namespace").Str(), metadata.Get("name").Str()}
	u := &user{node: spec.Get("nodeName").Str(), uses: []object{self}}
	switch resource {
	case pods:
		if metadata.Get("annotations").Get(mirror).IsAbsent() {
			u.uses = append(u.uses, usesOfPod(self, o)...)
		}
	case volumes:
		ref := spec.Get("claimRef")
		u.claim = object{claims, ref.Get("namespace").Str(), ref.Get("name").Str()}
		if ref.Kind() == value.KindObject {
			u.uses = append(u.uses, secretsOfVolume(spec, u.claim.namespace)...)
			return u
		}
	}
	if u.node == "" {
		u.uses = nil
	}
	return u
}

// usesOfPod returns the objects that a pod uses, each of them once.
func usesOfPod(pod object, o value.Value) []object {
	spec, all := o.Get("spec"), map[object]bool{}
	add := func(resource string, name value.Value) {
		if name.Str() != "" {
			all[object{resource, pod.namespace, name.Str()}] = true
		}
	}
	add(accounts, spec.Get("serviceAccountName"))
	for pull := range spec.Get("imagePullSecrets").Items() {
		add(secrets, pull.Get("name"))
	}
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for c := range spec.Get(list).Items() {
			for env := range c.Get("env").Items() {
				add(secrets, env.Get("valueFrom", "secretKeyRef", "name"))
				add(configMaps, env.Get("valueFrom", "configMapKeyRef", "name"))
			}
			for from := range c.Get("envFrom").Items() {
				add(secrets, from.Get("secretRef", "name"))
				add(configMaps, from.Get("configMapRef", "name"))
			}
		}
	}
	for v := range spec.Get("volumes").Items() {
		add(configMaps, v.Get("configMap", "name"))
		add(claims, v.Get("persistentVolumeClaim", "claimName"))
		if v.Get("ephemeral").Kind() == value.KindObject {
			add(claims, value.String(pod.name+"-"+v.Get("name").Str()))
		}
		for _, source := range v.Members() {
			if source.Kind() != value.KindObject {
				continue
			}
			add(secrets, source.Get("secretName"))
			add(secrets, source.Get("secretRef", "name"))
			add(secrets, source.Get("nodePublishSecretRef", "name"))
		}
		for source := range v.Get("projected", "sources").Items() {
			add(secrets, source.Get("secret", "name"))
			add(configMaps, source.Get("configMap", "name"))
		}
	}
	for claim := range spec.Get("resourceClaims").Items() {
		add(resourceClaims, claim.Get("resourceClaimName"))
		for status := range o.Get("status", "resourceClaimStatuses").Items() {
			if status.Get("name").Str() == claim.Get("name").Str() && claim.Get("resourceClaimName").IsAbsent() {
				add(resourceClaims, status.Get("resourceClaimName"))
			}
		}
	}
	add(resourceClaims, o.Get("status", "extendedResourceClaimStatus", "resourceClaimName"))
	return slices.Collect(maps.Keys(all))
}

// secretsOfVolume returns the secrets of a volume that a kubelet needs. Without a namespace of their own, they are in that of the claim.
func secretsOfVolume(spec value.Value, namespace string) (all []object) {
	add := func(in, name value.Value, inherits bool) {
		o := object{secrets, in.Str(), name.Str()}
		if o.namespace == "" && inherits {
			o.namespace = namespace
		}
		if o.name != "" {
			all = append(all, o)
		}
	}
	file := spec.Get("azureFile")
	add(file.Get("secretNamespace"), file.Get("secretName"), true)
	for _, source := range []string{"cephfs", "flexVolume", "rbd", "scaleIO", "iscsi"} {
		ref := spec.Get(source, "secretRef")
		add(ref.Get("namespace"), ref.Get("name"), true)
	}
	for _, path := range [][]string{
		{"cinder", "secretRef"}, {"storageos", "secretRef"}, {"csi", "nodePublishSecretRef"}, {"csi", "nodeStageSecretRef"}, {"csi", "nodeExpandSecretRef"},
	} {
		ref := spec.Get(path...)
		add(ref.Get("namespace"), ref.Get("name"), false)
	}
	return all
}
