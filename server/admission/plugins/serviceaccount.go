package plugins

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Accounts is the plugin ServiceAccount: a pod has a service account, which must exist, and gets a volume with a token of it.
type Accounts struct{ Store store.Store }

const (
	defaultAccount = "default"
	mirror         = "kubernetes.io/config.mirror" // the annotation of a pod that mirrors one of a kubelet
	// enforceMountable is the annotation of an account whose pods may use only its own secrets.
	enforceMountable = "kubernetes.io/enforce-mountable-secrets"
	tokenVolume      = "kube-api-access-"
	tokenPath        = "/var/run/secrets/kubernetes.io/serviceaccount"
)

// The account default is made by a controller soon after its namespace. A pod waits for it.
const (
	accountAttempts = 10
	accountPause    = 100 * time.Millisecond
)

// tokenSources is what the volume of a token projects.
var tokenSources = mustParse(`{"defaultMode":420,"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},
	{"configMap":{"items":[{"key":"ca.crt","path":"ca.crt"}],"name":"kube-root-ca.crt"}},
	{"downwardAPI":{"items":[{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"},"path":"namespace"}]}}]}`)

func mustParse(text string) value.Value {
	v, err := value.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return v
}

// Mutate gives a new pod the account default if it names none, the token of its account, and the pull secrets of its account.
func (p Accounts) Mutate(ctx context.Context, r *admission.Request) error {
	switch {
	case !isFor(r, pods, admission.Create):
		return nil
	case isMirror(r.Object.Content()):
		return p.Validate(ctx, r)
	}
	spec := r.Object.Content().Get("spec")
	if spec.Get("serviceAccountName").Str() == "" {
		spec = spec.With("serviceAccountName", value.String(defaultAccount)).With("serviceAccount", value.String(defaultAccount))
	}
	account, err := p.account(ctx, r, spec)
	if err != nil {
		return err
	}
	if automounts(account, spec) {
		spec = withToken(spec)
	}
	if pull := account.Get("imagePullSecrets"); spec.Get("imagePullSecrets").Len() == 0 && pull.Len() > 0 {
		spec = spec.With("imagePullSecrets", pull)
	}
	r.Object = r.Object.With(r.Object.Content().With("spec", spec))
	return p.Validate(ctx, r)
}

// Validate refuses a pod whose account does not exist, or does not let it use its secrets.
func (p Accounts) Validate(ctx context.Context, r *admission.Request) error {
	isNew := isFor(r, pods, admission.Create)
	isExtended := r.Resource.GroupResource() == pods && r.Subresource == "ephemeralcontainers" && r.Operation == admission.Update
	pod := r.Object.Content()
	spec := pod.Get("spec")
	switch {
	case !isNew && !isExtended:
		return nil
	case isNew && isMirror(pod):
		return refuseMirror(r, spec)
	case spec.Get("serviceAccountName").Str() == "":
		return forbid(r, fmt.Errorf("no service account specified for pod %s/%s", r.Namespace, pod.Get("metadata", "name").Str()))
	}
	account, err := p.account(ctx, r, spec)
	if enforces, _ := strconv.ParseBool(account.Get("metadata", "annotations").Get(enforceMountable).Str()); err != nil || !enforces {
		return err
	}
	if isExtended {
		err = mountable(account, spec, "ephemeralContainers")
	} else {
		err = mountable(account, spec, "initContainers", "containers")
	}
	if err != nil {
		return forbid(r, err)
	}
	return nil
}

// account returns the account of a pod. The error is a 403.
func (p Accounts) account(ctx context.Context, r *admission.Request, spec value.Value) (value.Value, error) {
	name := spec.Get("serviceAccountName").Str()
	for i := 1; ; i++ {
		account, err := object(ctx, p.Store, accountsPrefix+r.Namespace+"/"+name)
		if err == nil && !account.IsAbsent() {
			return account, nil
		}
		if err == nil && (name != defaultAccount || i == accountAttempts) {
			if err = unfit(name); err == nil {
				err = apierrors.NewNotFound(kschema.GroupResource{Resource: "serviceaccount"}, name)
			}
		}
		if err != nil {
			return account, forbid(r, fmt.Errorf("error looking up service account %s/%s: %w", r.Namespace, name, err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(accountPause):
		}
	}
}

// isMirror reports whether a pod mirrors one of a kubelet.
func isMirror(pod value.Value) bool {
	return !pod.Get("metadata", "annotations").Get(mirror).IsAbsent()
}

// refuseMirror refuses a mirror pod that uses an account or secrets.
func refuseMirror(r *admission.Request, spec value.Value) error {
	switch {
	case spec.Get("serviceAccountName").Str() != "":
		return forbid(r, errors.New("a mirror pod may not reference service accounts"))
	case usesSecrets(spec):
		return forbid(r, errors.New("a mirror pod may not reference secrets"))
	}
	for v := range spec.Get("volumes").Items() {
		for source := range v.Get("projected", "sources").Items() {
			if isSet(source.Get("serviceAccountToken")) {
				return forbid(r, errors.New("a mirror pod may not use ServiceAccountToken volume projections"))
			}
		}
	}
	return nil
}

// usesSecrets reports whether a pod names a secret, and not the empty name: for images, in the environment of a container, or in a volume.
func usesSecrets(spec value.Value) bool {
	isNamed := func(ref value.Value) bool { return ref.Get("name").Str() != "" }
	if slices.ContainsFunc(slices.Collect(spec.Get("imagePullSecrets").Items()), isNamed) {
		return true
	}
	for c := range containersOf(spec) {
		for _, name := range secretsOf(c) {
			if name != "" {
				return true
			}
		}
	}
	for v := range spec.Get("volumes").Items() {
		for _, source := range v.Members() {
			if source.Kind() == value.KindObject && (isNamed(source.Get("secretRef")) || isNamed(source.Get("nodePublishSecretRef")) || source.Get("secretName").Str() != "") {
				return true
			}
		}
		for source := range v.Get("projected", "sources").Items() {
			if isNamed(source.Get("secret")) {
				return true
			}
		}
	}
	return false
}

// containersOf yields the containers of a pod of all three kinds.
func containersOf(spec value.Value) iter.Seq[value.Value] {
	return func(yield func(value.Value) bool) {
		for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
			for c := range spec.Get(list).Items() {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// secretsOf yields the secrets that the environment of a container names, each with how a refusal names the variable.
func secretsOf(c value.Value) func(func(string, string) bool) {
	return func(yield func(string, string) bool) {
		for env := range c.Get("env").Items() {
			if ref := env.Get("valueFrom", "secretKeyRef"); isSet(ref) && !yield(" envVar "+env.Get("name").Str(), ref.Get("name").Str()) {
				return
			}
		}
		for from := range c.Get("envFrom").Items() {
			if ref := from.Get("secretRef"); isSet(ref) && !yield(" envFrom", ref.Get("name").Str()) {
				return
			}
		}
	}
}

// mountable returns why a pod may not use a secret: its account does not name it. Volumes and pull secrets count with the containers of a
// new pod.
func mountable(account, spec value.Value, lists ...string) error {
	has := func(list, name string) bool {
		return slices.ContainsFunc(slices.Collect(account.Get(list).Items()), func(s value.Value) bool { return s.Get("name").Str() == name })
	}
	by := account.Get("metadata", "name").Str()
	isNew := slices.Contains(lists, "containers")
	for v := range spec.Get("volumes").Items() {
		if name := v.Get("secret", "secretName").Str(); isNew && isSet(v.Get("secret")) && !has("secrets", name) {
			return fmt.Errorf("volume with secret.secretName=\"%s\" is not allowed because service account %s does not reference that secret", name, by)
		}
	}
	called := map[string]string{"initContainers": "init container", "containers": "container", "ephemeralContainers": "ephemeral container"}
	for _, list := range lists {
		for c := range spec.Get(list).Items() {
			for where, name := range secretsOf(c) {
				if !has("secrets", name) {
					return fmt.Errorf("%s %s with%s referencing secret.secretName=\"%s\" is not allowed because service account %s does not reference that secret",
						called[list], c.Get("name").Str(), where, name, by)
				}
			}
		}
	}
	i := 0
	for pull := range spec.Get("imagePullSecrets").Items() {
		if name := pull.Get("name").Str(); isNew && !has("imagePullSecrets", name) {
			return fmt.Errorf("imagePullSecrets[%d].name=\"%s\" is not allowed because service account %s does not reference that imagePullSecret", i, name, by)
		}
		i++
	}
	return nil
}

// automounts reports whether a pod gets a token: as it says, or else as its account says, or else yes.
func automounts(account, spec value.Value) bool {
	for _, by := range []value.Value{spec, account} {
		if says := by.Get("automountServiceAccountToken"); isSet(says) {
			return says.Bool()
		}
	}
	return true
}

// withToken returns the spec of a pod whose containers mount a token, except those that mount something at its path.
func withToken(spec value.Value) value.Value {
	name := tokenVolume + rand.String(5)
	volumes := slices.Collect(spec.Get("volumes").Items())
	has := slices.IndexFunc(volumes, func(v value.Value) bool { return strings.HasPrefix(v.Get("name").Str(), tokenVolume) })
	if has >= 0 {
		name = volumes[has].Get("name").Str()
	}
	mount := value.Object(
		value.Member{Name: "name", Value: value.String(name)}, value.Member{Name: "readOnly", Value: value.Bool(true)},
		value.Member{Name: "mountPath", Value: value.String(tokenPath)},
	)
	isNeeded := false
	for _, list := range []string{"initContainers", "containers"} {
		var containers []value.Value
		for c := range spec.Get(list).Items() {
			mounts := slices.Collect(c.Get("volumeMounts").Items())
			if !slices.ContainsFunc(mounts, func(m value.Value) bool { return m.Get("mountPath").Str() == tokenPath }) {
				c, isNeeded = c.With("volumeMounts", value.List(append(mounts, mount)...)), true
			}
			containers = append(containers, c)
		}
		if len(containers) > 0 {
			spec = spec.With(list, value.List(containers...))
		}
	}
	if has < 0 && isNeeded {
		volumes = append(volumes, value.Object(
			value.Member{Name: "name", Value: value.String(name)}, value.Member{Name: "projected", Value: tokenSources},
		))
		spec = spec.With("volumes", value.List(volumes...))
	}
	return spec
}
