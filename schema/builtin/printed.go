package builtin

import (
	"encoding/base64"
	"strconv"

	"github.com/deed-project/deed/value"
)

// printed has functions by struct type. A server holds values of these types as a type that all versions of the kind
// have in common, and each function computes the effect. init fills the map, because the functions refer to the
// forms, which refer to the map.
var printed map[string]func(value.Value) value.Value

func init() {
	printed = map[string]func(value.Value) value.Value{
		"core/v1.NodeSpec":                          podCIDRs,
		"core/v1.Secret":                            stringData,
		"apps/v1.DaemonSet":                         templateGeneration,
		"apps/v1.RollingUpdateDaemonSet":            rollingUpdateCounts,
		"apps/v1.RollingUpdateDeployment":           rollingUpdateCounts,
		"apps/v1.Deployment":                        rollbackTo,
		"apps/v1.StatefulSetSpec":                   claimTemplates,
		"apiextensions/v1.CustomResourceConversion": conversionWebhook,
		"apps/v1.RollingUpdateStatefulSetStrategy":  partition,
		"autoscaling/v2.HorizontalPodAutoscaler":    withoutScalerAnnotations,
		"autoscaling/v1.HorizontalPodAutoscaler":    scalerOfV1,
		"resource/v1beta1.Device":                   basicDevice,
	}
}

// podCIDRs makes podCIDR and podCIDRs of a node consistent. podCIDR wins.
func podCIDRs(spec value.Value) value.Value {
	first, all := spec.Get("podCIDR"), spec.Get("podCIDRs")
	switch {
	case first.Str() != "" && (all.Len() == 0 || all.Item(0).Str() != first.Str()):
		return spec.With("podCIDRs", value.List(first))
	case first.Str() == "" && all.Len() > 0 && all.Item(0).Str() != "":
		return spec.With("podCIDR", all.Item(0))
	}
	return spec
}

// stringData moves the texts of a secret to its data.
func stringData(secret value.Value) value.Value {
	texts := secret.Get("stringData")
	if texts.Len() == 0 {
		return secret
	}
	encoded := make([]value.Member, 0, texts.Len())
	for name, text := range texts.Members() {
		encoded = append(encoded, value.Member{Name: name, Value: value.String(base64.StdEncoding.EncodeToString([]byte(text.Str())))})
	}
	return secret.With("data", documents.WithAll(secret.Get("data"), value.Object(encoded...))).With("stringData", value.Value{})
}

// annotated returns object with an annotation. The text "" removes it.
func annotated(object value.Value, name, text string) value.Value {
	metadata := object.Get("metadata")
	annotations := metadata.Get("annotations")
	if text == "" {
		if annotations.Get(name).IsAbsent() {
			return object
		}
		if annotations = annotations.With(name, value.Value{}); annotations.Len() == 0 {
			annotations = value.Value{}
		}
	} else {
		annotations = annotations.With(name, value.String(text))
	}
	return object.With("metadata", metadata.With("annotations", annotations))
}

// templateGeneration sets the annotation that counts the changes of a daemon set's template.
func templateGeneration(set value.Value) value.Value {
	const name = "deprecated.daemonset.template.generation"
	text := set.Get("metadata", "annotations", name).Str()
	if canonical := strconv.FormatInt(templateCount(set), 10); canonical != text {
		return annotated(set, name, canonical)
	}
	return set
}

// templateCount returns how often the template of a daemon set has changed.
func templateCount(set value.Value) int64 {
	n, _ := strconv.ParseInt(set.Get("metadata", "annotations", "deprecated.daemonset.template.generation").Str(), 10, 64)
	return n
}

// rollbackTo drops the rollback annotation if it is empty.
func rollbackTo(deployment value.Value) value.Value {
	const name = "deprecated.deployment.rollback.to"
	if deployment.Get("metadata", "annotations", name).Str() == "" {
		return annotated(deployment, name, "")
	}
	return deployment
}

// rollingUpdateCounts sets a missing count of a rolling update to 0.
func rollingUpdateCounts(update value.Value) value.Value {
	for _, name := range []string{"maxSurge", "maxUnavailable"} {
		if update.Get(name).IsAbsent() {
			update = update.With(name, value.Int(0))
		}
	}
	return update
}

// partition sets the missing partition of a rolling update to 0.
func partition(update value.Value) value.Value {
	if update.Get("partition").IsAbsent() {
		return update.With("partition", value.Int(0))
	}
	return update
}

// scalerOfV1 makes the annotations of a scaler of autoscaling/v1 canonical: it converts the scaler to v2 and back.
func scalerOfV1(scaler value.Value) value.Value {
	scaler = scalerToV1(scalerFromV1(scaler))
	t, _ := forms().Struct("autoscaling/v1.HorizontalPodAutoscaler")
	if printed, err := t.Normalize(scaler, 0); err == nil {
		return printed
	}
	return scaler // unreachable: the type has printed it before
}

// claimTemplates sets apiVersion and kind of the templates of claims.
func claimTemplates(spec value.Value) value.Value {
	return eachItem(spec, func(claim value.Value) value.Value {
		if claim.Get("apiVersion").Str() == "v1" && claim.Get("kind").Str() == "PersistentVolumeClaim" {
			return claim
		}
		return claim.With("apiVersion", value.String("v1")).With("kind", value.String("PersistentVolumeClaim"))
	}, "volumeClaimTemplates")
}

// conversionWebhook drops an empty webhook.
func conversionWebhook(conversion value.Value) value.Value {
	webhook := conversion.Get("webhook")
	if !webhook.IsAbsent() && webhook.Get("clientConfig").IsAbsent() && webhook.Get("conversionReviewVersions").IsNull() {
		return conversion.With("webhook", value.Value{})
	}
	return conversion
}

// basicDevice adds the member basic to a device of v1beta1.
func basicDevice(device value.Value) value.Value {
	if device.Get("basic").IsAbsent() {
		return device.With("basic", value.Object())
	}
	return device
}
