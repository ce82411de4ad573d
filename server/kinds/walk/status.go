package walk

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"

	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// ValidateConditions validates conditions of the common form in a status.
func ValidateConditions(r *Report, object Place, _ value.Value) {
	status := object.At("status")
	list := status.At("conditions")
	var conditions []metav1.Condition
	if structs.Into(list.Value, &conditions) == nil {
		r.Errs = append(r.Errs, metav1validation.ValidateConditions(conditions, list.Path())...)
	}
}

// Counts is a status that counts pods.
type Counts struct {
	Natural  []string // the numbers that may not be negative, in the order of their errors
	Replicas []string // the numbers that may not exceed status.replicas
	Ready    string   // what a refusal calls the ready replicas, which available ones may not exceed; "" if they may
	Collides bool     // the status counts collisions, and the number of collisions may not shrink
}

// Check validates the status of a workload.
func (c Counts) Check(r *Report, object Place, live value.Value) {
	status := object.At("status")
	for _, name := range c.Natural {
		r.Natural(status.At(name))
	}
	for _, name := range c.Replicas {
		r.NotAbove(status.At(name), status.Get("replicas"), "cannot be greater than status.replicas")
	}
	if c.Ready != "" {
		r.NotAbove(status.At("availableReplicas"), status.Get("readyReplicas"), "cannot be greater than "+c.Ready)
	}
	collisions, was := status.At("collisionCount"), live.Get("status", "collisionCount")
	if c.Collides && IsSet(was) && (!collisions.IsSet() || collisions.Int() < was.Int()) {
		r.InvalidAs(collisions, collisions.Int(), "cannot be decremented")
	}
}
