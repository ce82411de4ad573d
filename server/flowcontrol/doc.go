// Package flowcontrol is API priority and fairness, as kube-apiserver has it with --enable-priority-and-fairness. The stored FlowSchemas sort
// requests into flows. The PriorityLevelConfiguration of a flow says how many of its requests are carried out at once, and whether others
// wait or are refused.
//
//	[Controller]  finds the flow of a request, and carries the request out when its priority level has a seat
//	[Maintainer]  keeps the objects that a cluster begins with, and the status of FlowSchemas
//
// A write of a FlowSchema or priority level holds for the next request: it counts up, and the next request reads what changed.
package flowcontrol

import flowcontrolv1 "k8s.io/api/flowcontrol/v1"

// Group is the API group of FlowSchemas and PriorityLevelConfigurations.
const Group = flowcontrolv1.GroupName

// Plurals of the resources.
const (
	Schemas = "flowschemas"
	Levels  = "prioritylevelconfigurations"
)
