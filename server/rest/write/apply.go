package write

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/wire"
)

// applyOf reads the configuration of a server-side apply, and returns the change that it makes. A member that stands twice in the
// configuration is refused, or warned of, after all other faults.
//
// The body is read once, for all attempts. A few faults are reported only later, since kube-apiserver reports those of the stored object,
// conflicts and type errors first:
//
//	no object            400, once the stored object has been read
//	repeated members     400 or a warning
//	uid, no object       409: an apply that means an existing object must not create another one
func applyOf(q *rest.Request, typ types.PatchType, body []byte, options api.WriteOptions) (Change, error) {
	decode := wire.DecodeApply
	if typ == types.ApplyCBORPatchType {
		decode = wire.DecodeApplyCBOR
	}
	sent, err := decode(body)
	if err != nil {
		return nil, err
	}
	// Decoders of built-in kinds take "/v1" for "v1".
	if !q.Version.Custom {
		sent.Content = wire.WithCoreVersion(sent.Content)
	}
	config, err := managedfields.ObjectOf(sent.Content)
	if err != nil {
		config = managedfields.Object{Content: sent.Content} // its managed fields are invalid, and its type refuses them
	}
	return func(live *read.Live) (managedfields.Object, error) {
		if sent.Refusal != nil {
			return managedfields.Object{}, sent.Refusal
		}
		if q.IsScale() { // live is the Scale
			object, err := applyScale(q, live, config, options)
			if err == nil {
				err = afterApply(q, live, &sent, options)
			}
			return object, err
		}
		object, err := managerOf(q).Apply(live.Object, config, options.Manager, options.Force)
		if err != nil {
			return object, refusedApply(err)
		}
		if err = unconvertedConfig(q, config); err == nil {
			err = afterApply(q, live, &sent, options)
		}
		return object, err
	}, nil
}

// refusedApply returns the error of the field manager as an answer has it.
func refusedApply(err error) error {
	if costly := costly(err); costly != nil {
		return costly
	}
	return api.Refused(err)
}

// unconvertedConfig returns an error if the outcome of an apply cannot be converted. Only config is new in it.
func unconvertedConfig(q *rest.Request, config managedfields.Object) error {
	err := unconverted(q.Version, config.Content)
	if err == nil {
		return nil
	}
	named := api.Meta(config.Content, "namespace") + "/" + api.Meta(config.Content, "name")
	return fmt.Errorf("failed to convert to unversioned (%s; %s, Kind=%s): %w", named, q.Version.APIVersion(), q.Version.Kind, err)
}

// afterApply returns the faults of a configuration that are reported last: see applyOf.
func afterApply(q *rest.Request, live *read.Live, sent *wire.Applied, options api.WriteOptions) error {
	if twice := sent.Strict(); twice != "" && options.Validation == api.Strict {
		return errors.NewBadRequest("error strict decoding patch: " + twice)
	} else if twice != "" {
		warnStrict(q, options, []string{twice})
	}
	if uid := api.Meta(sent.Content, "uid"); uid != "" && !live.Exists() {
		return errors.NewConflict(q.Version.GroupResource(), q.ObjectName, fmt.Errorf(
			"uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	return nil
}
