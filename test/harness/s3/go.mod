module sluice.test/s3

go 1.24

require github.com/rclone/gofakes3 v0.0.12
