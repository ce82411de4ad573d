package kinds

import "github.com/deed-project/deed/value"

// counts is a status that counts pods.
type counts struct {
	natural  []string // the numbers that may not be negative, in the order of their errors
	replicas []string // the numbers that may not exceed status.replicas
	ready    string   // what a refusal calls the ready replicas, which available ones may not exceed; "" if they may
	collides bool     // the status counts collisions, and the number of collisions may not shrink
}

// check validates the status of a workload.
func (c counts) check(r *report, object place, live value.Value) {
	status := object.at("status")
	for _, name := range c.natural {
		r.natural(status.at(name))
	}
	for _, name := range c.replicas {
		r.notAbove(status.at(name), status.Get("replicas"), "cannot be greater than status.replicas")
	}
	if c.ready != "" {
		r.notAbove(status.at("availableReplicas"), status.Get("readyReplicas"), "cannot be greater than "+c.ready)
	}
	collisions, was := status.at("collisionCount"), live.Get("status", "collisionCount")
	if c.collides && isSet(was) && (!collisions.is() || collisions.Int() < was.Int()) {
		r.invalidAs(collisions, collisions.Int(), "cannot be decremented")
	}
}

// notAbove refuses a number that is greater than another one.
func (r *report) notAbove(p place, most value.Value, detail string) {
	if p.Int() > most.Int() {
		r.invalidAs(p, p.Int(), detail)
	}
}

var (
	controllerCounts = counts{
		natural:  []string{"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"},
		replicas: []string{"fullyLabeledReplicas", "readyReplicas", "availableReplicas"},
		ready:    "readyReplicas",
	}
	replicaSetCounts = counts{
		natural:  append(controllerCounts.natural[:5:5], "terminatingReplicas"),
		replicas: controllerCounts.replicas,
		ready:    "readyReplicas",
	}
	deploymentCounts = counts{
		natural: []string{
			"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas", "terminatingReplicas",
			"collisionCount",
		},
		replicas: []string{"updatedReplicas", "readyReplicas", "availableReplicas"},
		ready:    "readyReplicas",
		collides: true,
	}
	statefulSetCounts = counts{
		natural: []string{
			"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "observedGeneration", "collisionCount",
		},
		replicas: []string{"readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"},
		ready:    "status.readyReplicas",
		collides: true,
	}
	daemonSetCounts = counts{
		natural: []string{
			"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration",
			"updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount",
		},
		collides: true,
	}
	budgetCounts = counts{natural: []string{"disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"}}
)

// validateBudgetStatus validates the status of a PodDisruptionBudget.
func validateBudgetStatus(r *report, object place, live value.Value) {
	validateConditions(r, object, live)
	budgetCounts.check(r, object, live)
}

// jobCounts are the counts of a Job.
var jobCounts = counts{natural: []string{"active", "succeeded", "failed", "ready", "terminating"}}

// validateJobStatus validates the counts in the status of a Job.
func validateJobStatus(r *report, object place, live value.Value) {
	jobCounts.check(r, object, live)
	status, was := object.at("status"), live.Get("status")
	ready, active := status.at("ready"), status.Get("active")
	if ready.Int() != was.Get("ready").Int() || active.Int() != was.Get("active").Int() {
		r.notAbove(ready, active, "cannot set more ready pods than active")
	}
}
