package builtin

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/structural/scale"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// scaleOf returns the subresource scale of a kind. All built-in kinds have their replicas and selector at the same paths.
func scaleOf(kind *builtin.Kind, now func() time.Time) (*catalog.Scale, error) {
	config := builtin.ScaleConfig()
	config.Now = now
	manager, err := managedfields.New(config)
	if err != nil {
		return nil, err
	}
	return &catalog.Scale{
		Paths: scale.Paths{Spec: ".spec.replicas", Status: ".status.replicas"}, SelectorOf: selectorText, Manager: manager, Replicas: kind.Replicas(),
		Requests: RequestScale,
	}, nil
}

// RequestScale decodes the Scales in requests, for every resource.
var RequestScale = review(catalog.ScaleKind.Group, catalog.ScaleKind.Kind, catalog.EmptyScale).Versions[0]

// selectorText returns the selector of an object, a map of labels or a label selector, as text.
//
// An object without a selector has an empty text. Selectors of labels are printed in the order of their names.
func selectorText(object value.Value) (string, error) {
	selector := object.Get("spec", "selector")
	if selector.Kind() != value.KindObject {
		return "", nil
	}
	of := metav1.LabelSelector{}
	var err error
	if object.Get("kind").Str() == "ReplicationController" {
		err = structs.Into(selector, &of.MatchLabels)
	} else {
		err = structs.Into(selector, &of)
	}
	if err != nil {
		return "", fmt.Errorf("spec.selector: %w", err)
	}
	if len(of.MatchExpressions) == 0 {
		return labels.SelectorFromSet(of.MatchLabels).String(), nil
	}
	parsed, err := metav1.LabelSelectorAsSelector(&of)
	if err != nil {
		return "", fmt.Errorf("spec.selector: %w", err)
	}
	return parsed.String(), nil
}
