package tables

import (
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// Scale returns the columns that Tables of Scales have, those of custom resources or others, and what a Scale shows in them.
func Scale(custom bool) (func() []catalog.Column, func(value.Value, time.Time) catalog.Row) {
	listed := func() []catalog.Column {
		doc := metav1.ObjectMeta{}.SwaggerDoc()
		wanted, has := autoscalingv1.ScaleSpec{}.SwaggerDoc()["replicas"], autoscalingv1.ScaleStatus{}.SwaggerDoc()["replicas"]
		nameFormat, ageType := "", "string"
		if custom {
			wanted, has, nameFormat, ageType = "Number of desired replicas", "Number of actual replicas", "name", "date"
		}
		return []catalog.Column{
			{Name: "Name", Type: "string", Format: nameFormat, Description: doc["name"]},
			{Name: "Desired", Type: "integer", Description: wanted},
			{Name: "Available", Type: "integer", Description: has},
			{Name: "Age", Type: ageType, Description: doc["creationTimestamp"]},
		}
	}
	cells := []cell{name, number("spec", "replicas"), number("status", "replicas"), age}
	if custom {
		cells = []cell{name, found("spec", "replicas"), found("status", "replicas"), age}
	}
	return listed, func(scale value.Value, now time.Time) catalog.Row { return row(cells, scale, now) }
}

// found shows what there is, null if there is nothing.
func found(path ...string) cell {
	return func(s source) value.Value {
		if v := s.Get(path...); !v.IsAbsent() {
			return v
		}
		return value.Null()
	}
}
