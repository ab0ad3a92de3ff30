"""What the files mean, one file at a time: images, stages, containers, pods, services, commands, modules."""
