package csaupgrade

import "github.com/deed-project/deed/kube/csa"

// This file stands in for the package: each of its names is deed's.

type Option = csa.Option

var (
	Subresource               = csa.Subresource
	FindFieldsOwners          = csa.FindFieldsOwners
	UpgradeManagedFields      = csa.UpgradeManagedFields
	UpgradeManagedFieldsPatch = csa.UpgradeManagedFieldsPatch
)
