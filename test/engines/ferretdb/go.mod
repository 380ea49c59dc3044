module sluice.test/ferretdb

go 1.23

require github.com/FerretDB/FerretDB v1.24.0
